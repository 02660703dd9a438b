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
  SubmitFailure,
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
  { refused: { recipients: ['9912345678'] }, polls: true, lists: true, most: 1 },
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

  describe('messages without an answer', () => {
    const submissionId = `${BATCH}-s0`;
    const SENDER = '2348000000001';
    let other: ProviderUnderTest<TwilioServer>;
    beforeAll(async () => {
      other = await open();
      for (let n = 0; n < 3; n++) await other.transport.submit(smsTo([TO]), signal);
      await other.transport.submit(smsTo([TO], { sender: 'ACME' }), signal);
    });
    afterAll(() => other.close());
    const lost = (firstSentAt = new Date(), channel = 'sms') => {
      return {
        submissionId,
        reference: null,
        channel,
        sender: SENDER,
        recipients: [TO],
        firstSentAt,
      };
    };
    const idsOf = async (...asked: ReturnType<typeof lost>[]) =>
      (await other.transport.listSent?.(asked, signal))?.map(({ report }) => report.messageId);
    const taken = (count: number) =>
      other.server.taken
        .slice(0, count)
        .map(({ sid }) => sid)
        .toReversed();

    it('all pages are read, with one search for one number and sender', async () => {
      other.server.mostOnPage = 1;
      const before = other.server.requests.length;
      expect(await idsOf(lost(), lost(), lost(new Date(), 'whatsapp'))).toEqual(taken(3));
      const urls = other.server.requests.slice(before).map(({ url }) => new URL(url, 'http://x'));
      other.server.mostOnPage = 1_000;
      expect(urls).toHaveLength(3);
      expect(Object.fromEntries(urls[0]!.searchParams)).toMatchObject({
        To: `+${TO}`,
        From: `+${SENDER}`,
        'DateSent>': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      });
    });

    it('messages of other hours, to the own numbers, or in a queue are left out', async () => {
      const [first, second, third] = other.server.taken;
      first!.createdAt = new Date(Date.now() - 3_600_000);
      second!.sentAt = null;
      expect(await idsOf(lost())).toEqual([third!.sid]);
      first!.createdAt = second!.sentAt = new Date();
      expect(await idsOf(lost(new Date(Date.now() - 7_200_000)))).toEqual([]);
    });

    it.each([
      [429, JSON.stringify({ code: 20429, message: 'Too Many Requests', status: 429 })],
      [503, '<html>'],
      [200, '{}'],
    ])('a list that answers %i fails as a whole', async (status, body) => {
      other.server.mostOnPage = 1;
      other.server.answer(({ url }, response) => {
        if (!url.includes('PageToken')) return false;
        return void response.writeHead(status).end(body);
      });
      await expect(idsOf(lost())).rejects.toBeInstanceOf(SubmitFailure);
      other.server.answer(undefined);
      other.server.mostOnPage = 1_000;
    });

    it('a next page at another address is not read, and the list counts for nothing', async () => {
      other.server.answer((_request, response) => {
        const next_page_uri = 'https://elsewhere.example.com/';
        return void response.writeHead(200).end(JSON.stringify({ messages: [], next_page_uri }));
      });
      expect(await idsOf(lost())).toEqual([]);
      other.server.answer(undefined);
    });

    it('a Messaging Service chooses the sender, and lists its own messages only', async () => {
      const messagingServiceSid = `MG${'b2'.repeat(16)}`;
      const service = await open({ messagingServiceSid });
      await service.transport.submit(smsTo([TO]), signal);
      service.server.taken.push({ ...other.server.taken[0]!, sid: 'SM9' });
      expect(await service.transport.listSent?.([lost()], signal)).toMatchObject([
        { sender: null, text: 'Hi & bye', report: { messageId: service.server.taken[0]!.sid } },
      ]);
      await service.close();
    });
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
