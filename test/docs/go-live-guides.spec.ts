import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROVIDERS } from '../integration/providers/provider-cases.js';
import { Postfix } from '../peers/postfix/postfix.js';
import { buildGateway } from '../support/builds.js';
import { type DnsRecord, DnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { MailServer } from '../support/mail-server.js';
import { describeWithServer } from '../support/servers.js';
import { Smsc } from '../support/smpp/smsc.js';
import { WhatsAppCloudServer } from '../support/whatsapp-cloud-server.js';
import { Guide } from './guide.js';

const POSTGRES = 'postgres://dundun:change-me@127.0.0.1:5432/dundun';

/** The guide in an empty directory, with a gateway at a port of its own on an SQLite file. */
async function open(
  name: string,
  places: Readonly<Record<string, string>>,
): Promise<{ readonly guide: Guide; readonly url: string }> {
  const port = String(await freePort());
  const own = {
    [POSTGRES]: 'sqlite:gateway.sqlite',
    '127.0.0.1:3000': `127.0.0.1:${port}`,
    ...places,
  };
  return { guide: await Guide.open(name, own, { PORT: port }), url: `http://127.0.0.1:${port}` };
}

beforeAll(() => buildGateway());

describe('the guide of Twilio', () => {
  const make = PROVIDERS.find(([name]) => name === 'twilio')?.[1];
  const twilio = make!('/callbacks/twilio');
  let guide: Guide | undefined;
  beforeAll(() => twilio.server.listen());
  afterAll(async () => {
    await guide?.close();
    await twilio.server.close();
  });

  it('its commands bring a message to Twilio, and its report to the gateway', async () => {
    const {
      account_sid: sid = '',
      auth_token: token = '',
      callback_url: origin = '',
    } = twilio.carrier();
    const opened = await open('go-live-with-twilio', {
      AC00000000000000000000000000000000: sid,
      'the-auth-token-of-the-account': token,
      'https://sms.example.com': origin,
      'type: twilio': `type: twilio\n    url: ${twilio.server.url}`,
    });
    guide = opened.guide;
    const printed = await guide.walk(4);
    expect(printed).toMatch(/carrier twilio +true/);
    expect(printed).toContain('"sent":1');
    const sent = JSON.parse(await readFile(join(guide.directory, 'sent.json'), 'utf8')) as {
      reference_id: string;
    };
    const { path, body, headers } = twilio.delivered({
      id: twilio.lastId(),
      submission: `${sent.reference_id}-s0`,
      to: '2348012345678',
    });
    const called = await fetch(opened.url + path, { method: 'POST', headers, body });
    expect(called.status).toBe(204);
    expect(await guide.walk()).toContain('"delivered":1');
  });
});

describe('guides with an SMSC', () => {
  let guide: Guide | undefined;
  let smsc: Smsc;
  beforeAll(async () => {
    smsc = await Smsc.start();
    smsc.delivers = true;
  });
  afterEach(async () => guide?.close());
  afterAll(() => smsc.stop());

  const WRITTEN = 'smpp://system_id:password@smsc.example.com:2775';

  it('the guide of SMPP: its commands bind, and a message is delivered', async () => {
    guide = (await open('go-live-with-smpp', { [WRITTEN]: smsc.url })).guide;
    const printed = await guide.walk();
    expect(printed).toMatch(/carrier operator +true/);
    expect(printed).toMatch(/operator .*\b2 of 2\b/);
    expect(printed).toContain('"delivered":1');
    expect(smsc.texts.at(-1)).toBe('Hello from Dundun');
  });

  it('the guide of Kannel: the imported carrier binds, and a user of sendsms sends by its account', async () => {
    guide = (await open('migrate-from-kannel', {})).guide;
    const { port } = new URL(smsc.url.replace('smpp:', 'http:'));
    await writeFile(
      join(guide.directory, 'kannel.conf'),
      `group = smsc\nsmsc = smpp\nsmsc-id = operator\nhost = 127.0.0.1\nport = ${port}\ntransceiver-mode = true\nsmsc-username = tester\nsmsc-password = secret\n\ngroup = sendsms-user\nusername = tester\npassword = foobar\n`,
    );
    const printed = await guide.walk();
    expect(printed).toMatch(/sendsms-user: username, password +npx dundun account create/);
    expect(printed).toContain('"delivered":1');
    expect(smsc.texts.at(-1)).toBe('Hello');
  });

  it('the guide of Jasmin: the carriers bind, and a user sends by its account', async () => {
    const places = {
      [WRITTEN]: smsc.url,
      'smpp://system_id:password@backup.example.com:2775': smsc.url,
      'SMPP_LISTEN=127.0.0.1:2775': `SMPP_LISTEN=127.0.0.1:${await freePort()}`,
    };
    guide = (await open('migrate-from-jasmin', places)).guide;
    const printed = await guide.walk();
    expect(printed).toMatch(/system_id +smpp/);
    expect(printed).toContain('"delivered":1');
  });
});

describe('the guide of WhatsApp', () => {
  let guide: Guide | undefined;
  let cloud: WhatsAppCloudServer;
  beforeAll(async () => {
    cloud = await WhatsAppCloudServer.start();
    cloud.templates.push({
      name: 'order_update',
      language: 'en',
      category: 'UTILITY',
      status: 'APPROVED',
      components: [{ type: 'BODY', text: 'Hi {{1}}, order {{2}} is on its way.' }],
    });
  });
  afterAll(async () => {
    await guide?.close();
    await cloud.close();
  });

  it('its commands answer the check of Meta, and bring a template to it', async () => {
    guide = (
      await open('go-live-with-whatsapp', {
        'the-access-token-of-the-system-user': cloud.token,
        'the-app-secret-of-32-characters': cloud.appSecret,
        'a-word-of-yours-with-24-characters': cloud.verifyToken,
        'type: whatsapp-cloud': `type: whatsapp-cloud\n    url: ${cloud.url}`,
      })
    ).guide;
    const printed = await guide.walk();
    expect(printed).toContain('4711');
    expect(printed).toMatch(/"status":"(?:sent|queued)"/);
    await eventually(async () =>
      expect(cloud.taken).toMatchObject([
        { to: '2348012345678', template: { name: 'order_update' } },
      ]),
    );
  });
});

interface Published {
  readonly type: 'TXT' | 'CNAME' | 'MX';
  readonly name: string;
  readonly value: string;
}

function recordOf({ type, value }: Published): DnsRecord {
  if (type === 'TXT') return { type, data: value.match(/.{1,200}/g) ?? [] };
  const [preference, exchange = ''] = value.split(' ');
  return type === 'MX'
    ? { type, data: { preference: Number(preference), exchange } }
    : { type, data: value };
}

describeWithServer('postfix', 'the guide of email', () => {
  let guide: Guide | undefined;
  let dns: DnsServer;
  let remote: MailServer;
  let postfix: Postfix;
  beforeAll(async () => {
    [dns, remote] = [await DnsServer.start(), await MailServer.start()];
    postfix = await Postfix.start({ 'example.org': `[127.0.0.1]:${remote.port}` });
  });
  afterAll(async () => {
    await guide?.close();
    await postfix?.stop();
    await remote.close();
    await dns.close();
  });

  it('its commands verify the domain by its published records, and a signed email reaches the person', async () => {
    guide = (
      await open('go-live-with-email', {
        'smtp://user:password@relay.example.com:587': postfix.url,
        'type: smtp': 'type: smtp\n    tls: "off"',
        '0.0.0.0:2525': `127.0.0.1:${await freePort()}`,
        'sleep 60': 'sleep 1',
        'EMAIL_SPF=': `EMAIL_DNS_SERVERS=${dns.address}\nEMAIL_SPF=`,
      })
    ).guide;
    await guide.walk(2);
    const { records } = JSON.parse(
      await readFile(join(guide.directory, 'domain.json'), 'utf8'),
    ) as { records: Published[] };
    for (const record of records)
      dns.records.set(record.name, [...(dns.records.get(record.name) ?? []), recordOf(record)]);
    expect(await guide.walk()).toContain('"sent"');
    await eventually(async () => expect(remote.accepted).toHaveLength(1));
    const [mail] = remote.accepted;
    expect(mail?.to).toEqual(['ada@example.org']);
    expect(String(mail?.message)).toMatch(/^DKIM-Signature: [^]*d=shop\.example/m);
  });
});
