import { afterEach, describe, expect, it } from '@jest/globals';
import { http, type TransportFactory } from '@dundun/messaging';
import { awsSms } from '@dundun/messaging/aws-sms';
import { bird } from '@dundun/messaging/bird';
import { kannel } from '@dundun/messaging/kannel';
import { reloadly } from '@dundun/messaging/reloadly';
import { resend } from '@dundun/messaging/resend';
import { ses } from '@dundun/messaging/ses';
import { smpp } from '@dundun/messaging/smpp';
import { smtp } from '@dundun/messaging/smtp';
import { vonage } from '@dundun/messaging/vonage';
import { whatsappCloud } from '@dundun/messaging/whatsapp-cloud';
import type { MessageTransport } from '@dundun/messaging/ports';
import { COMMAND_STATUS } from '@dundun/smpp';
import { generateKeyPairSync } from 'node:crypto';
import { freePort } from '../../support/free-port.js';
import { InterfaceServer } from '../../support/interface-server.js';
import { MailServer } from '../../support/mail-server.js';
import { AwsSmsServer } from '../../support/providers/aws-sms-server.js';
import { BirdServer } from '../../support/providers/bird-server.js';
import { ResendServer } from '../../support/providers/resend-server.js';
import { SesServer } from '../../support/providers/ses-server.js';
import { VonageServer } from '../../support/providers/vonage-server.js';
import { ReloadlyServer } from '../../support/reloadly-server.js';
import { SendsmsServer } from '../../support/sendsms-server.js';
import { Smsc } from '../../support/smpp/smsc.js';
import { transportContext } from '../../support/transport-context.js';
import { WhatsAppCloudServer } from '../../support/whatsapp-cloud-server.js';
import { EMAIL_PROVIDERS } from './email-provider-cases.js';
import { PROVIDERS } from './provider-cases.js';

/** The field of each double that a change of makes the credential of the transport wrong. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  twilio: 'authToken',
  vonage: 'apiSecret',
  infobip: 'apiKey',
  'africas-talking': 'apiKey',
  termii: 'apiKey',
  plivo: 'authToken',
  clickatell: 'apiKey',
  telnyx: 'apiKey',
  sinch: 'apiToken',
  bird: 'accessKey',
  'aws-sms': 'credentials',
  resend: 'apiKey',
  postmark: 'serverToken',
  sendgrid: 'apiKey',
  ses: 'credentials',
};

const BALANCES: Readonly<Record<string, readonly [amount: string, currency: string]>> = {
  twilio: ['12.50', 'USD'],
  infobip: ['12.5', 'EUR'],
  'africas-talking': ['12.50', 'KES'],
  termii: ['12.5', 'NGN'],
  plivo: ['12.50', 'USD'],
  clickatell: ['12.5', 'ZAR'],
  telnyx: ['12.50', 'USD'],
};

const OTHER = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'another-secret-of-the-key' };

type Closable = MessageTransport & { onApplicationShutdown?(): unknown };

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** Asks as an app does, and closes the transport after the test. */
function checkOf(factory: TransportFactory) {
  const transport = factory(transportContext({ dispatches: false })) as Closable;
  opened.push(() => transport.onApplicationShutdown?.());
  return () => transport.checkAccount!(AbortSignal.timeout(20_000));
}

const ALL = [...PROVIDERS, ...EMAIL_PROVIDERS].map(
  ([name, make]) => [name, () => make('/dlr/provider')] as const,
);

describe.each(ALL)('the account at %s', (name, make) => {
  it('a right credential is proved by a request that sends nothing, a wrong one and a closed port are named', async () => {
    const { server, transport } = make();
    await server.listen();
    let isListening = true;
    opened.push(() => isListening && server.close());
    const check = checkOf(transport());
    const [amount, currency] = BALANCES[name] ?? [];
    expect(await check()).toEqual({ balance: amount ? { amount, currency } : null });
    const field = CREDENTIALS[name] ?? '';
    const value = field === 'credentials' ? OTHER : 'x'.repeat(32);
    Object.assign(server, { [field]: value });
    const refused = check();
    await expect(refused).rejects.toThrow(/credential|form of/);
    await expect(refused).rejects.not.toThrow(/x{32}|127\.0\.0\.1/);
    await server.close();
    isListening = false;
    await expect(check()).rejects.toMatchObject({
      code: expect.stringMatching(/unreachable|lost/),
    });
    expect(server.taken).toHaveLength(0);
  });
});

describe('a credential that may send and nothing else', () => {
  it('Resend knows a key for sending alone', async () => {
    const server = new ResendServer();
    await server.listen();
    opened.push(() => server.close());
    server.answer((_, response) => {
      const body = { statusCode: 401, name: 'restricted_api_key', message: 'only send emails' };
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    expect(await checkOf(resend(server.options))()).toEqual({ balance: null });
  });

  it('AWS knows a user without the right to read the account', async () => {
    const mail = new SesServer();
    const sms = new AwsSmsServer();
    for (const server of [mail, sms]) {
      await server.listen();
      opened.push(() => server.close());
    }
    mail.fail(403, 'AccessDeniedException');
    expect(await checkOf(ses(mail.options))()).toEqual({ balance: null });
    sms.answer((_, response) => {
      const body = JSON.stringify({ __type: 'com.amazon.coral#AccessDeniedException' });
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
    });
    expect(await checkOf(awsSms(sms.options))()).toEqual({ balance: null });
  });

  it('Bird knows a key whose policy has the messages alone', async () => {
    const server = new BirdServer();
    await server.listen();
    opened.push(() => server.close());
    server.answer((_, response) => {
      const body = JSON.stringify({ code: 'Forbidden', message: 'no' });
      response.writeHead(403, { 'content-type': 'application/json' }).end(body);
    });
    expect(await checkOf(bird(server.options))()).toEqual({ balance: null });
  });

  it('Vonage knows the token of an application, by a message without a recipient, which it refuses', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const server = new VonageServer();
    server.publicKey = publicKey;
    await server.listen();
    opened.push(() => server.close());
    const check = checkOf(
      vonage({
        applicationId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeffff',
        privateKey,
        baseUrl: server.url,
      }),
    );
    expect(await check()).toEqual({ balance: null });
    server.publicKey = undefined;
    await expect(check()).rejects.toThrow(/credential/);
    expect(server.taken).toHaveLength(0);
  });
});

describe('the account at other services', () => {
  it('the interface: each credential that is set is proved', async () => {
    const server = await InterfaceServer.start();
    opened.push(() => server.close());
    const { url: baseUrl, apiToken, apiKey } = server;
    expect(await checkOf(http({ baseUrl, apiToken, apiKey }))()).toEqual({ balance: null });
    await expect(checkOf(http({ baseUrl, apiToken: 'tok_old', apiKey }))()).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await expect(checkOf(http({ baseUrl, apiToken, apiKey: 'svk_old' }))()).rejects.toMatchObject({
      code: 'unauthorized',
    });
    expect(server.accepted.size + server.acceptedWhatsApp.size).toBe(0);
  });

  it('Kannel reads the user before the recipient, which the request does not have', async () => {
    const server = await SendsmsServer.start();
    opened.push(() => server.close());
    const { username, password } = server;
    const url = server.url + '/cgi-bin/sendsms';
    expect(await checkOf(kannel({ url, username, password }))()).toEqual({ balance: null });
    await expect(checkOf(kannel({ url, username, password: 'old' }))()).rejects.toMatchObject({
      code: 'unauthorized',
    });
    expect(server.taken).toHaveLength(0);
  });

  it('Reloadly gives a token, and tells the balance', async () => {
    const server = new ReloadlyServer();
    const baseUrl = await server.start();
    opened.push(() => server.stop());
    const checkWith = (clientSecret: string) =>
      checkOf(
        reloadly({ clientId: 'id', clientSecret, countries: ['NG'], baseUrl, authUrl: baseUrl }),
      )();
    expect(await checkWith('right')).toEqual({ balance: { amount: '12.5', currency: 'USD' } });
    await expect(checkWith('wrong')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(server.topups.size).toBe(0);
  });

  it('Meta knows the token', async () => {
    const server = await WhatsAppCloudServer.start();
    opened.push(() => server.close());
    const { url: baseUrl, token, phoneNumberId } = server;
    expect(await checkOf(whatsappCloud({ token, phoneNumberId, baseUrl }))()).toEqual({
      balance: null,
    });
    const old = whatsappCloud({ token: 'EAAG-an-old-token-of-it', phoneNumberId, baseUrl });
    await expect(checkOf(old)()).rejects.toMatchObject({ code: 'unauthorized' });
    expect(server.taken).toHaveLength(0);
  });

  it('an SMSC takes a bind, which ends at once', async () => {
    const smsc = await Smsc.start();
    opened.push(() => smsc.stop());
    expect(await checkOf(smpp({ url: smsc.url }))()).toEqual({ balance: null });
    smsc.bindStatus = COMMAND_STATUS.ESME_RINVPASWD;
    await expect(checkOf(smpp({ url: smsc.url }))()).rejects.toThrow(/refused the bind.*INVPASWD/);
    const port = await freePort();
    const closed = smpp({ url: `smpp://tester:secret@127.0.0.1:${port}` });
    await expect(checkOf(closed)()).rejects.toMatchObject({ code: 'unreachable' });
    expect(smsc.submitted).toHaveLength(0);
  });

  it('a mail relay takes a session, and no mail', async () => {
    const server = await MailServer.start();
    opened.push(() => server.close());
    const url = `smtp://127.0.0.1:${server.port}`;
    expect(await checkOf(smtp({ url, tls: 'off' }))()).toEqual({ balance: null });
    server.answer = (verb) => (verb === 'connect' ? '554 5.7.1 No' : undefined);
    await expect(checkOf(smtp({ url, tls: 'off' }))()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(server.accepted).toHaveLength(0);
  });
});
