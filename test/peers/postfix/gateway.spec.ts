import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Processes } from '../../e2e/gateway/built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { MailServer } from '../../support/mail-server.js';
import { describeWithServer } from '../../support/servers.js';
import { Postfix } from './postfix.js';

const BASE = '/email/ng/v1';

interface Callback {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describeWithServer('postfix', 'the built gateway behind a relay that reports', () => {
  const processes = new Processes();
  let remote: MailServer;
  let postfix: Postfix;
  let customer: Receiver;
  let url: string;
  let key: string;
  let secret: string;

  beforeAll(async () => {
    await buildGateway();
    [remote, customer] = [await MailServer.start(), await Receiver.start()];
    remote.answer = (verb, to) => {
      if (verb !== 'rcpt') return undefined;
      if (to.startsWith('gone')) return '550 5.1.1 No such user';
      if (to.startsWith('blocked')) return '550 5.7.1 Refused by policy';
      return to.startsWith('slow') ? '451 4.2.1 Try again later' : undefined;
    };
    const listen = `127.0.0.1:${await freePort()}`;
    const hop = (address: string) => address.replace('127.0.0.1:', '[127.0.0.1]:');
    postfix = await Postfix.start(
      { 'example.org': `[127.0.0.1]:${remote.port}`, 'bounce.demo.test': hop(listen) },
      {
        // A delay is reported after the second try, and the end of the tries soon after it.
        settings: {
          minimal_backoff_time: '1s',
          maximal_backoff_time: '2s',
          queue_run_delay: '1s',
          delay_warning_time: '1s',
          maximal_queue_lifetime: '8s',
        },
      },
    );
    const gateway = await processes.gateway({
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: postfix.url,
      SMTP_TLS: 'off',
      EMAIL_LISTEN: listen,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    url = gateway.url;
    [key = ''] = await gateway.told(/svk_\w+/);
    secret = String((await ask('POST', '/webhooks', { url: customer.url }))['secret']);
  });
  afterAll(async () => {
    await processes.destroy();
    await postfix?.stop();
    await customer.close();
    await remote.close();
  });

  async function ask(
    method: string,
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> {
    const answer = await fetch(url + BASE + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  }

  const send = async (to: string): Promise<string> => {
    const sent = await ask('POST', '/messages', {
      from: 'Shop <hello@demo.test>',
      recipients: [to],
      subject: 'Hello',
      text: 'Hello',
      metadata: { order: '1001' },
    });
    return `${String(sent['reference_id'])}-0`;
  };
  const eventsOf = async (id: string) =>
    ((await ask('GET', `/messages/${id}/events`))['data'] as { event: string }[]).map(
      ({ event }) => event,
    );
  const callbacksOf = (id: string): Callback[] =>
    customer.received
      .map(({ body, headers }) => new Webhook(secret).verify(body, headers) as Callback)
      .filter(({ data }) => data['message_id'] === id)
      .toSorted((a, b) => Number(a.data['sequence']) - Number(b.data['sequence']));
  const typesAre = (id: string, types: readonly string[]) =>
    eventually(async () => expect(callbacksOf(id).map(({ type }) => type)).toEqual(types));

  it('a failure that the relay reports bounces its message, and a dead address is suppressed', async () => {
    const [gone, blocked] = [await send('gone@example.org'), await send('blocked@example.org')];
    for (const id of [gone, blocked]) await typesAre(id, ['email.sent', 'email.bounced']);
    expect(callbacksOf(gone)[1]?.data).toMatchObject({
      to: 'gone@example.org',
      status: 'bounced',
      error_code: '5.1.1',
      metadata: { order: '1001' },
      bounce: {
        category: 'recipient',
        smtp_code: 550,
        enhanced_code: '5.1.1',
        diagnostic: '550 5.1.1 No such user',
      },
    });
    expect(callbacksOf(blocked)[1]?.data).toMatchObject({
      error_code: '5.7.1',
      bounce: { category: 'block' },
    });
    expect((await ask('GET', '/suppressions'))['data']).toEqual([
      expect.objectContaining({
        email: 'gone@example.org',
        reason: 'hard_bounce',
        message_id: gone,
      }),
    ]);
    expect(await eventsOf(gone)).toEqual(['sent', 'bounced']);
  });

  it('a delay that the relay reports is an event, and the end of its tries an expiry', async () => {
    const id = await send('slow@example.org');
    await typesAre(id, ['email.sent', 'email.delayed', 'email.expired']);
    const [, delayed, expired] = callbacksOf(id);
    expect(delayed?.data).toMatchObject({ status: 'sent', error_code: '4.2.1' });
    expect(expired?.data).toMatchObject({ status: 'expired', error_code: '4.2.1', bounce: null });
    expect(await ask('GET', `/messages/${id}`)).toMatchObject({ status: 'expired' });
    expect((await ask('GET', '/suppressions?email=slow@example.org'))['data']).toEqual([]);
  });

  it('a message that the relay passes on arrives with one signature and its return address', async () => {
    const id = await send('ada@example.org');
    await eventually(async () =>
      expect(remote.accepted.map(({ to }) => to)).toEqual([['ada@example.org']]),
    );
    const [mail] = remote.accepted;
    expect(mail?.from).toMatch(/^b\+[0-9a-f]{32}-s0\.[a-z2-7]{20}@bounce\.demo\.test$/);
    expect(mail?.message.toString()).toContain(`\r\nMessage-ID: <${id}@demo.test>\r\n`);
    expect(await eventsOf(id)).toEqual(['sent']);
  });
});
