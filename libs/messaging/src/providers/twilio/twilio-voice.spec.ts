import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import twilio from 'twilio';
import { RecordingServer } from '../../../../../test/support/recording-server.js';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { VoiceContent } from '../../message/content/voice-content.js';
import type { Submission } from '../../ports/message-transport.js';
import { twilioSignature } from './twilio.js';
import { twilioVoiceParser } from './twilio-calls.js';
import { TwimlSeal } from './twiml-seal.js';
import { twilioVoice, type TwilioVoiceTransport } from './twilio-voice.transport.js';

const ACCOUNT = `AC${'a1'.repeat(16)}`;
const TOKEN = 'f'.repeat(32);
const SID = `CA${'0'.repeat(32)}`;
const ORIGIN = 'https://app.example.com';
const CALLBACK = `${ORIGIN}/dlr/twilio`;
const BATCH = '01993021-0000-7000-8000-000000000000';

const CALL: VoiceContent = {
  kind: 'call',
  text: 'Hello',
  repeat: 1,
  ringTimeout: 30_000,
  maxDuration: 600_000,
  machine: 'play',
  category: 'transactional',
};

function submission(content: Partial<VoiceContent> = {}): Submission {
  return {
    id: `${BATCH}-s0`,
    batchId: BATCH,
    tenant: '',
    channel: 'voice',
    sender: '2348000000001',
    content: { ...CALL, ...content },
    recipients: ['2348012345678'],
    deliveryReport: true,
    attempt: 1,
    firstSentAt: new Date('2026-01-01T00:00:00Z'),
    dueAt: new Date('2026-01-01T00:00:00Z'),
  };
}

describe('twilioVoice', () => {
  let answer: { status: number; body: object | string };
  let transport: TwilioVoiceTransport;
  const { signal } = new AbortController();
  const server = new RecordingServer((_request, response) => {
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });

  beforeAll(async () => {
    await server.listen();
    const baseUrl = server.url;
    const options = { accountSid: ACCOUNT, authToken: TOKEN, callbackUrl: CALLBACK, baseUrl };
    transport = twilioVoice(options)(transportContext()) as TwilioVoiceTransport;
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await server.close();
  });

  const form = async (content: Partial<VoiceContent> = {}) => {
    answer = { status: 201, body: { sid: SID, status: 'queued' } };
    const accepted = await transport.submit(submission(content), signal);
    const request = server.requests.at(-1)!;
    return { accepted, request, fields: new URLSearchParams(request.body) };
  };

  it('a call is one form with its TwiML, its limits and callbacks that name the submission', async () => {
    const { accepted, request, fields } = await form({ ringTimeout: 15_000, maxDuration: 60_000 });
    expect(accepted).toEqual({ reference: SID, messageIds: [SID] });
    expect([request.method, request.url]).toEqual([
      'POST',
      `/2010-04-01/Accounts/${ACCOUNT}/Calls.json`,
    ]);
    expect(request.headers.authorization).toBe(
      `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}`,
    );
    expect(Object.fromEntries(fields)).toEqual({
      To: '+2348012345678',
      From: '+2348000000001',
      Twiml: '<Response><Say loop="1">Hello</Say></Response>',
      Timeout: '15',
      TimeLimit: '60',
      StatusCallback: `${CALLBACK}?submission=${BATCH}-s0`,
      StatusCallbackMethod: 'POST',
      StatusCallbackEvent: 'completed',
    });
    expect(fields.getAll('StatusCallbackEvent')).toEqual([
      'initiated',
      'ringing',
      'answered',
      'completed',
    ]);
  });

  it("TwiML is that of Twilio's own library, also with characters of XML", async () => {
    const { VoiceResponse } = twilio.twiml;
    const text = 'Fish & "chips" <now>';
    const said = new VoiceResponse();
    said.say({ voice: 'alice', language: 'en-GB', loop: 2 } as never, text);
    const code = new VoiceResponse();
    code.say({ loop: 1 }, '0, 4, 2, 1');
    const audio = new VoiceResponse();
    audio.play({ loop: 3 }, 'https://shop.example/a.mp3?x=1&y=2');
    const gathered = new VoiceResponse();
    gathered
      .gather({
        input: ['dtmf'],
        numDigits: 1,
        timeout: 5,
        action: `${CALLBACK}?submission=${BATCH}-s0`,
        method: 'POST',
      })
      .say({ loop: 1 }, 'Press 1');
    const cases: [Partial<VoiceContent>, { toString(): string }][] = [
      [{ text, voice: 'alice', language: 'en-GB', repeat: 2 }, said],
      [{ text: undefined, code: '0421' } as Partial<VoiceContent>, code],
      [
        {
          text: undefined,
          audioUrl: 'https://shop.example/a.mp3?x=1&y=2',
          repeat: 3,
        } as unknown as Partial<VoiceContent>,
        audio,
      ],
      [{ text: 'Press 1', collect: { maxDigits: 1, timeout: 5_000 } }, gathered],
    ];
    const normal = (xml: string) =>
      xml
        .replace(/^<\?xml[^>]*\?>/, '')
        .replaceAll(/&quot;/g, '"')
        .replaceAll('&gt;', '>');
    for (const [content, expected] of cases) {
      const { fields } = await form(content);
      expect(normal(fields.get('Twiml') ?? '')).toBe(normal(expected.toString()));
    }
  });

  it.each([
    [{ machine: 'hangup', text: 'x'.repeat(3_000) }, 'content_too_long'],
    [{ text: 'x'.repeat(3_000).replaceAll('x', '&') }, 'content_too_long'],
  ] as const)('a call that Twilio cannot make as asked is refused', async (content, code) => {
    const refused = transport.submit(submission(content), signal);
    await expect(refused).rejects.toThrow(PermanentFailure);
    await expect(refused).rejects.toMatchObject({ code });
  });

  it.each([
    [400, { code: 21211, message: 'Invalid To', status: 400 }, PermanentFailure, '21211'],
    [400, { code: 21210, message: 'Caller not verified', status: 400 }, PermanentFailure, '21210'],
    [401, { code: 20003, message: 'Authenticate', status: 401 }, PausedFailure, 'unauthorized'],
    [404, { code: 20404, message: 'Not found', status: 404 }, PausedFailure, 'unauthorized'],
    [429, { code: 20429, message: 'Too many', status: 429 }, PausedFailure, 'throttled'],
    [401, '<html>', PausedUncertainFailure, 'not_the_provider'],
    [500, { code: 20500, message: 'Oops', status: 500 }, UncertainFailure, '20500'],
    [502, 'Bad gateway', UncertainFailure, 'http_502'],
    [201, { status: 'queued' }, UncertainFailure, 'invalid_answer'],
  ])('an answer %i %j is classified', async (status, body, failure, code) => {
    answer = { status, body };
    const failed = transport.submit(submission(), signal);
    await expect(failed).rejects.toThrow(failure);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(TOKEN);
  });

  it('a poll reads a call with its price, and skips one without a sid', async () => {
    answer = {
      status: 200,
      body: {
        sid: SID,
        status: 'completed',
        to: '+2348012345678',
        start_time: 'Thu, 01 Jan 2026 00:00:03 +0000',
        end_time: 'Thu, 01 Jan 2026 00:01:04 +0000',
        duration: '61',
        price: '-0.0260',
        price_unit: 'USD',
        answered_by: 'machine_start',
      },
    };
    const asked = { submissionId: `${BATCH}-s0`, channel: 'voice', recipients: ['2348012345678'] };
    const firstSentAt = new Date();
    const reports = await transport.fetchReports(
      [
        { ...asked, reference: null, firstSentAt },
        { ...asked, reference: SID, firstSentAt },
      ],
      signal,
    );
    expect(server.requests.at(-1)?.url).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls/${SID}.json`);
    expect(reports).toEqual([
      {
        submissionId: `${BATCH}-s0`,
        reference: SID,
        messageId: SID,
        recipient: '2348012345678',
        status: 'completed',
        rawStatus: 'completed',
        errorCode: null,
        providerTime: new Date('2026-01-01T00:01:04Z'),
        details: {
          answered_at: '2026-01-01T00:00:03.000Z',
          ended_at: '2026-01-01T00:01:04.000Z',
          duration: 61,
          answered_by: 'machine',
          cost: '0.0260',
          currency: 'USD',
        },
      },
    ]);
  });
});

describe('callbacks of calls', () => {
  const url = `/dlr/twilio?submission=${BATCH}-s0`;
  const at = 'Thu, 01 Jan 2026 00:00:10 +0000';
  const base = { CallSid: SID, AccountSid: ACCOUNT, To: '+2348012345678', Timestamp: at };
  const requestOf = (fields: Record<string, string>, signature?: string) =>
    callbackRequest({
      method: 'POST',
      url,
      query: { submission: `${BATCH}-s0` },
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(signature !== undefined && { 'x-twilio-signature': signature }),
      },
      body: fields,
      rawBody: Buffer.from(new URLSearchParams(fields).toString()),
    });

  it("a callback with the signature of Twilio's own library is taken, and any other is refused", () => {
    const fields = { ...base, CallStatus: 'completed', CallDuration: '7', Digits: '' };
    const { getExpectedTwilioSignature, validateRequest } = twilio;
    const signature = getExpectedTwilioSignature(TOKEN, ORIGIN + url, fields);
    expect(validateRequest(TOKEN, signature, ORIGIN + url, fields)).toBe(true);
    const verifier = twilioSignature({ authToken: TOKEN, origin: ORIGIN });
    expect(verifier.verify(requestOf(fields, signature))).toBe(true);
    expect(verifier.verify(requestOf({ ...fields, CallStatus: 'busy' }, signature))).toBe(false);
    expect(verifier.verify(requestOf(fields))).toBe(false);
    const other = getExpectedTwilioSignature('0'.repeat(32), ORIGIN + url, fields);
    expect(verifier.verify(requestOf(fields, other))).toBe(false);
  });

  it.each([
    ['queued', {}, 'initiated', {}],
    ['initiated', {}, 'initiated', {}],
    ['ringing', {}, 'ringing', {}],
    ['in-progress', {}, 'answered', { answered_at: '2026-01-01T00:00:10.000Z' }],
    [
      'completed',
      { CallDuration: '7', SipResponseCode: '200' },
      'completed',
      {
        answered_at: '2026-01-01T00:00:03.000Z',
        ended_at: '2026-01-01T00:00:10.000Z',
        duration: 7,
        hangup_cause: 'sip_200',
      },
    ],
    [
      'busy',
      { CallDuration: '0', SipResponseCode: '486' },
      'busy',
      { ended_at: '2026-01-01T00:00:10.000Z', duration: 0, hangup_cause: 'sip_486' },
    ],
    ['no-answer', {}, 'no_answer', { ended_at: '2026-01-01T00:00:10.000Z' }],
    ['failed', {}, 'failed', { ended_at: '2026-01-01T00:00:10.000Z' }],
    ['canceled', {}, 'failed', { ended_at: '2026-01-01T00:00:10.000Z' }],
  ])('the status %s is read', (word, fields, status, details) => {
    const { reports } = twilioVoiceParser().parse(
      requestOf({ ...base, CallStatus: word, ...fields }),
    );
    expect(reports).toEqual([
      {
        submissionId: `${BATCH}-s0`,
        reference: SID,
        messageId: SID,
        recipient: '2348012345678',
        status,
        rawStatus: word,
        errorCode: word === 'busy' ? 'sip_486' : null,
        providerTime: new Date('2026-01-01T00:00:10Z'),
        details,
      },
    ]);
  });

  it('pressed digits are an event, whose answer ends the call', () => {
    const parsed = twilioVoiceParser().parse(
      requestOf({ ...base, CallStatus: 'in-progress', Digits: '42' }),
    );
    expect(parsed.reports).toMatchObject([{ status: 'digits', details: { digits: '42' } }]);
    expect(parsed.answer?.body).toBe(
      new twilio.twiml.VoiceResponse().toString().replace(/<Response\/>/, '<Response></Response>'),
    );
  });

  it('a TwiML that another token or submission has sealed hangs up', () => {
    const address = (token: string, submissionId: string) =>
      new TwimlSeal(token).seal('<Response><Say>4, 2</Say></Response>', submissionId);
    const answerTo = (sealed: string) =>
      twilioVoiceParser({ authToken: TOKEN }).parse({
        ...requestOf({ ...base, CallStatus: 'in-progress', AnsweredBy: 'human' }),
        query: { submission: `${BATCH}-s0`, twiml: sealed },
      }).answer?.body;
    expect(answerTo(address(TOKEN, `${BATCH}-s0`))).toContain('<Say>4, 2</Say>');
    for (const wrong of [
      address('0'.repeat(32), `${BATCH}-s0`),
      address(TOKEN, `${BATCH}-s1`),
      'AAAA',
      '',
    ])
      expect(answerTo(wrong)).toContain('<Response><Hangup/></Response>');
  });

  it('a form without a call or a status is unreadable', () => {
    const parse = (fields: Record<string, string>) => twilioVoiceParser().parse(requestOf(fields));
    expect(parse({ CallStatus: 'busy' }).errors).toEqual(['entry 0: no CallSid']);
    expect(parse({ CallSid: SID }).errors).toEqual(['entry 0: no CallStatus']);
  });
});
