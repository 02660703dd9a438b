import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import {
  BATCH,
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import { TwilioServer } from '../../../../../test/support/providers/twilio-server.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { twilioParser } from './twilio.js';
import { twilio, type TwilioOptions } from './twilio.transport.js';

const CALLBACK = 'https://app.example.com/dlr/twilio';
const TO = '2348012345678';
const { signal } = new AbortController();

providerContract(
  'twilio',
  () => new TwilioServer(),
  ({ options }) => twilio(options),
  { refused: { recipients: ['9912345678'] }, polls: true, most: 1 },
);

describe('twilio', () => {
  let under: ProviderUnderTest<TwilioServer>;
  const open = (changes: Partial<TwilioOptions> = {}) =>
    openProvider(new TwilioServer(), ({ options }) =>
      twilio({ ...options, callbackUrl: CALLBACK, ...changes }),
    );
  beforeAll(async () => {
    under = await open();
  });
  afterAll(() => under.close());
  const sent = (to = under) => Object.fromEntries(to.server.taken.at(-1)!.fields);

  it('an SMS is one form, with an address of callbacks that names the submission', async () => {
    const accepted = await under.transport.submit(smsTo([TO]), signal);
    const { sid } = under.server.taken.at(-1)!;
    expect(accepted).toEqual({ reference: sid, messageIds: [sid] });
    expect(sent()).toEqual({
      To: `+${TO}`,
      From: '+2348000000001',
      Body: 'Hi & bye',
      StatusCallback: `${CALLBACK}?submission=${BATCH}-s0`,
    });
  });

  it.each([
    ['ACME', 'ACME'],
    ['22334', '22334'],
    ['2348000000001', '+2348000000001'],
  ])('the sender %s is written %s', async (sender, From) => {
    await under.transport.submit(smsTo([TO], { sender }), signal);
    expect(sent()).toMatchObject({ From });
  });

  it('a Messaging Service takes the place of the sender', async () => {
    const messagingServiceSid = `MG${'b2'.repeat(16)}`;
    const other = await open({ messagingServiceSid });
    await other.transport.submit(smsTo([TO]), signal);
    expect(sent(other)).toMatchObject({ MessagingServiceSid: messagingServiceSid });
    expect(sent(other)).not.toHaveProperty('From');
    await other.close();
  });

  it('WhatsApp has prefixes, and a template its sid and its variables', async () => {
    const other = await open({ contentSids: { order_ready: `HX${'c3'.repeat(16)}` } });
    const content = {
      kind: 'template',
      template: 'order_ready',
      language: 'en',
      params: ['Ada', '12'],
    };
    const channel = 'whatsapp';
    await other.transport.submit(smsTo([TO], { channel, content } as object), signal);
    expect(sent(other)).toMatchObject({
      To: `whatsapp:+${TO}`,
      From: 'whatsapp:+2348000000001',
      ContentSid: `HX${'c3'.repeat(16)}`,
      ContentVariables: '{"1":"Ada","2":"12"}',
    });
    const buttons = [{ type: 'url', index: 0, suffix: '12' }];
    const pressed = smsTo([TO], { channel, content: { ...content, buttons } } as object);
    await expect(other.transport.submit(pressed, signal)).rejects.toMatchObject({
      code: 'unsupported_content',
    });
    const unknown = smsTo([TO], { channel, content: { ...content, template: 'other' } } as object);
    await expect(other.transport.submit(unknown, signal)).rejects.toMatchObject({
      code: 'template_unknown',
    });
    await other.close();
  });

  it.each([
    [400, 21211, PermanentFailure, '21211'],
    [400, 21610, PermanentFailure, '21610'],
    [400, 21606, UnroutableFailure, 'sender_unknown'],
    [400, 21408, UnroutableFailure, 'not_routable'],
    [401, 20003, PausedFailure, 'unauthorized'],
    [403, 20005, PausedFailure, 'account_restricted'],
    [429, 20429, PausedFailure, 'throttled'],
    [400, 21611, PausedFailure, 'throttled'],
    [500, 20500, UncertainFailure, '20500'],
  ])('an answer %i with the code %i is classified', async (status, code, kind, name) => {
    under.server.refuse({ status, body: { code, message: `About ${TO}`, status } });
    const failed = under.transport.submit(smsTo([TO]), signal);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code: name });
    await expect(failed).rejects.not.toThrow(TO);
  });

  it('a 401 of another server pauses the lane, and is no proof of a refusal', async () => {
    under.server.refuse({ status: 401, body: '<html>' });
    await expect(under.transport.submit(smsTo([TO]), signal)).rejects.toBeInstanceOf(
      PausedUncertainFailure,
    );
  });

  it('a poll reads status and error of a message', async () => {
    await under.transport.submit(smsTo([TO]), signal);
    const message = under.server.taken.at(-1)!;
    message.status = 'undelivered';
    const query = { ...smsTo([TO]), submissionId: `${BATCH}-s0`, reference: message.sid };
    expect(await under.transport.fetchReports?.([query], signal)).toEqual([
      {
        submissionId: `${BATCH}-s0`,
        reference: message.sid,
        messageId: message.sid,
        recipient: TO,
        status: 'undelivered',
        rawStatus: 'undelivered',
        errorCode: '30003',
        providerTime: null,
      },
    ]);
  });

  it('one failed poll of several hides no report of the others, and a refused credential ends them all', async () => {
    await under.transport.submit(smsTo([TO]), signal);
    const { sid } = under.server.taken.at(-1)!;
    const query = (reference: string) => {
      return { ...smsTo([TO]), submissionId: `${BATCH}-s0`, reference };
    };
    const answerBroken = (status: number, body: string) =>
      under.server.answer(({ url }, response) => {
        if (!url.includes('broken')) return false;
        return void response.writeHead(status).end(body);
      });
    const poll = (...references: string[]) =>
      under.transport.fetchReports?.(references.map(query), signal);
    answerBroken(500, '');
    const queries = [...Array.from({ length: 9 }, (_, n) => `broken-${n}`), sid];
    expect(await poll(...queries)).toMatchObject([{ messageId: sid }]);
    answerBroken(401, JSON.stringify({ code: 20003, message: 'Authenticate', status: 401 }));
    const before = under.server.requests.length;
    await expect(poll(...queries)).rejects.toBeInstanceOf(PausedFailure);
    expect(under.server.requests.length - before).toBeLessThan(queries.length);
    under.server.answer(undefined);
  });

  it('a callback names the submission of its address', () => {
    const body = { MessageSid: 'SM1', MessageStatus: 'delivered', To: `+${TO}` };
    const query = { submission: `${BATCH}-s0` };
    const { reports } = twilioParser().parse(callbackRequest({ body, query }));
    expect(reports).toMatchObject([{ submissionId: `${BATCH}-s0`, messageId: 'SM1' }]);
  });

  namesWrongOptions(twilio, { accountSid: `AC${'a'.repeat(32)}`, authToken: 'f'.repeat(32) }, [
    ['accountSid', { accountSid: 'hunter2' }],
    ['authToken', { authToken: 'hunter2 hunter2 hunter2' }],
    ['messagingServiceSid', { messagingServiceSid: 'hunter2' }],
    ['contentSids.order', { contentSids: { order: 'hunter2' } }],
    ['baseUrl', { baseUrl: 'https://user:hunter2@api.twilio.com' }],
    ['acountSid', { acountSid: 'hunter2' }],
  ]);
});
