import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import {
  DeferredFailure,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { MessageContent } from '../../message/message.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import type { Submission } from '../../ports/message-transport.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { refuse, WhatsAppCloudServer } from '../../../../../test/support/whatsapp-cloud-server.js';
import { whatsappCloudParser, whatsappCloudSignature } from './whatsapp-cloud.callbacks.js';
import { whatsappCloud, type WhatsAppCloudTransport } from './whatsapp-cloud.transport.js';

const ID = '01890000-0000-7000-8000-000000000000-s0';
const NOW = Date.UTC(2026, 10, 24);
const { signal } = new AbortController();

let server: WhatsAppCloudServer;
let transport: WhatsAppCloudTransport | undefined;
beforeEach(async () => void (server = await WhatsAppCloudServer.start()));
afterEach(async () => {
  await transport?.onApplicationShutdown();
  transport = undefined;
  await server.close();
});

function cloud(options = {}): WhatsAppCloudTransport {
  const { url: baseUrl, token, phoneNumberId } = server;
  const made = whatsappCloud({ baseUrl, token, phoneNumberId, ...options });
  return (transport = made(transportContext()) as WhatsAppCloudTransport);
}

function submissionOf(content: MessageContent, changes: Partial<Submission> = {}): Submission {
  return {
    id: ID,
    batchId: ID.slice(0, -3),
    tenant: '',
    channel: 'whatsapp',
    sender: '',
    content,
    recipients: ['2348012345678'],
    deliveryReport: true,
    attempt: 1,
    dueAt: new Date(NOW),
    firstSentAt: new Date(NOW),
    ...changes,
  };
}

const TEXT: MessageContent = { kind: 'text', text: 'Hi & bye' };
const TEMPLATE: MessageContent = {
  kind: 'template',
  template: 'order_ready',
  language: 'en_GB',
  params: ['Ada', '12'],
};

it('a text names its submission, and its answer the id of the message', async () => {
  const accepted = await cloud().submit(submissionOf(TEXT), signal);
  expect(server.requests[0]?.url).toBe(`/v23.0/${server.phoneNumberId}/messages`);
  expect(server.taken).toEqual([
    {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '2348012345678',
      type: 'text',
      text: { body: 'Hi & bye', preview_url: false },
      biz_opaque_callback_data: ID,
    },
  ]);
  const id = 'wamid.1.2348012345678';
  expect(accepted).toEqual({ reference: id, messageIds: [id] });
});

it("an answer has Meta's number of the recipient where it is another one", async () => {
  server.knownAs.set('2348012345678', '2348099999999');
  server.knownAs.set('2348012345679', 'NG.13491208655302741918');
  const sender = cloud();
  const knownAs = async (recipient: string) =>
    (await sender.submit(submissionOf(TEXT, { recipients: [recipient] }), signal)).knownAs;
  expect(await knownAs('2348012345678')).toEqual(new Map([['2348012345678', '2348099999999']]));
  expect(await knownAs('2348012345679')).toBeUndefined();
  expect(await knownAs('2348012345680')).toBeUndefined();
  expect(await knownAs('platform:NG.13491208655302741918')).toBeUndefined();
});

it('a template has its parameters in the body, and no components without parameters', async () => {
  const sender = cloud();
  await sender.submit(submissionOf(TEMPLATE), signal);
  await sender.submit(submissionOf({ ...TEMPLATE, params: [] }), signal);
  const named = { name: 'order_ready', language: { policy: 'deterministic', code: 'en_GB' } };
  const parameters = ['Ada', '12'].map((text) => ({ type: 'text', text }));
  expect(server.taken.map(({ template }) => template)).toEqual([
    { ...named, components: [{ type: 'body', parameters }] },
    named,
  ]);
});

it('a contact without a number is addressed by its user id', async () => {
  await cloud().submit(
    submissionOf(TEXT, { recipients: ['platform:NG.13491208655302741918'] }),
    signal,
  );
  expect(server.taken).toMatchObject([{ recipient: 'NG.13491208655302741918' }]);
  expect(server.taken[0]).not.toHaveProperty('to');
});

it('the sender of a message chooses the number, and an unknown one is refused', async () => {
  const sender = cloud({
    phoneNumberId: '99999',
    phoneNumberIds: { '2348000000001': server.phoneNumberId },
  });
  await sender.submit(submissionOf(TEXT, { sender: '2348000000001' }), signal);
  expect(server.taken).toHaveLength(1);
  const unknown = sender.submit(submissionOf(TEXT, { sender: '2348000000002' }), signal);
  await expect(unknown).rejects.toMatchObject({ code: 'sender_unknown' });
  expect(server.requests).toHaveLength(1);
});

it.each([
  [400, 131026, PermanentFailure, '131026'],
  [400, 131047, PermanentFailure, '131047'],
  [404, 132001, PermanentFailure, '132001'],
  [401, 190, PausedFailure, 'unauthorized'],
  [403, 200, PausedFailure, 'account_restricted'],
  [429, 130429, PausedFailure, 'throttled'],
  [400, 131042, PausedFailure, 'payment_required'],
  [400, 131056, DeferredFailure, '131056'],
  [500, 131000, RetryableFailure, '131000'],
  [503, 2, RetryableFailure, '2'],
  [500, 131999, UncertainFailure, '131999'],
] as const)('an error %i with code %i is %p', async (status, code, kind, name) => {
  const failing = cloud();
  server.answer((_request, response) => refuse(response, status, code, 'to 2348012345678'));
  const error: Error = await failing.submit(submissionOf(TEXT), signal).then(
    () => new Error('accepted'),
    (reason: Error) => reason,
  );
  expect(error).toBeInstanceOf(kind);
  expect(error).toMatchObject({ code: name });
  expect(error.message).not.toContain('2348012345678');
});

it('an answer without the form of Meta is no proof of a refusal', async () => {
  const failing = cloud();
  for (const [status, kind] of [
    [400, UncertainFailure],
    [401, PausedUncertainFailure],
    [500, UncertainFailure],
    [200, UncertainFailure],
  ] as const) {
    server.answer((_request, response) => void response.writeHead(status).end('<html></html>'));
    await expect(failing.submit(submissionOf(TEXT), signal)).rejects.toBeInstanceOf(kind);
  }
});

it.each([
  [
    'an access token with Bearer',
    { token: 'Bearer EAAG-token-of-a-user' },
    /^whatsappCloud\.token: /,
  ],
  [
    'a number instead of its id',
    { phoneNumberId: '+234 801 234 5678' },
    /^whatsappCloud\.phoneNumberId: /,
  ],
  ['an unknown option', { tokn: 'x' }, /^whatsappCloud\.tokn: /],
])('%s fails the boot by name', (_, changes, message) => {
  expect(() => cloud(changes)).toThrow(message);
});

function callback(changes: Partial<CallbackRequest>): CallbackRequest {
  return {
    method: 'POST',
    url: '/dlr/meta',
    pathSecret: undefined,
    headers: {},
    query: {},
    body: undefined,
    rawBody: undefined,
    ip: '127.0.0.1',
    receivedAt: NOW,
    ...changes,
  };
}

function changed(value: object, field = 'messages') {
  return callback({
    body: {
      object: 'whatsapp_business_account',
      entry: [
        { id: '1', changes: [{ field, value: { messaging_product: 'whatsapp', ...value } }] },
      ],
    },
  });
}

const METADATA = { display_phone_number: '+234 800 000 0001', phone_number_id: '106540352242922' };

it('a status names its submission and its message, with time, error and price', () => {
  const status = {
    id: 'wamid.1',
    status: 'failed',
    timestamp: String(NOW / 1_000 - 60),
    recipient_id: '2348012345678',
    biz_opaque_callback_data: ID,
    pricing: { billable: false, pricing_model: 'PMP', category: 'utility' },
    errors: [{ code: 131049, title: 'Not delivered to maintain healthy ecosystem engagement.' }],
  };
  expect(whatsappCloudParser().parse(changed({ statuses: [status] }))).toEqual({
    reports: [
      {
        submissionId: ID,
        reference: 'wamid.1',
        messageId: 'wamid.1',
        recipient: null,
        status: 'failed',
        rawStatus: 'failed',
        errorCode: '131049',
        providerTime: new Date(NOW - 60_000),
        details: { billable: 0, category: 'utility' },
      },
    ],
    messages: [],
    templates: [],
    errors: [],
  });
});

it('messages are read with their text, button or choice, and media without a text', () => {
  const base = { from: '2348012345678', timestamp: String(NOW / 1_000) };
  const given = [
    { ...base, id: 'a', type: 'text', text: { body: 'STOP' } },
    { ...base, id: 'b', type: 'button', button: { text: 'Yes' } },
    { ...base, id: 'c', type: 'interactive', interactive: { list_reply: { title: 'Lagos' } } },
    { ...base, id: 'd', type: 'image', image: { id: '1' } },
    { id: 'e', type: 'text', from_user_id: 'NG.1', text: { body: 'Hi' } },
    { type: 'text', text: { body: 'of no one' } },
  ];
  const { messages, errors } = whatsappCloudParser().parse(
    changed({ metadata: METADATA, messages: given }),
  );
  expect(
    messages?.map(({ messageId, from, bsuid, text }) => [messageId, from, bsuid, text]),
  ).toEqual([
    ['a', '2348012345678', null, 'STOP'],
    ['b', '2348012345678', null, 'Yes'],
    ['c', '2348012345678', null, 'Lagos'],
    ['d', '2348012345678', null, null],
    ['e', null, 'NG.1', 'Hi'],
  ]);
  expect(messages?.[0]).toMatchObject({
    channel: 'whatsapp',
    to: '2348000000001',
    sentAt: new Date(NOW),
  });
  expect(errors).toEqual(['message 5 of change 0 has no id, sender or receiver']);
});

it('captions, answers of buttons and forms are texts', () => {
  const base = { from: '2348012345678', id: 'a', timestamp: String(NOW / 1_000) };
  const texts = [
    { type: 'image', image: { id: '1', caption: 'STOP' } },
    { type: 'document', document: { id: '1', caption: 'STOP' } },
    { type: 'interactive', interactive: { button_reply: { id: '1', title: 'STOP' } } },
    { type: 'interactive', interactive: { nfm_reply: { body: 'Sent', response_json: '{"a":1}' } } },
    { type: 'order', order: { text: 'Two, please' } },
    { type: 'text', text: { body: '' } },
  ].map((message) => {
    const given = changed({ metadata: METADATA, messages: [{ ...base, ...message }] });
    return whatsappCloudParser().parse(given).messages?.[0]?.text;
  });
  expect(texts).toEqual(['STOP', 'STOP', 'STOP', '{"a":1}', 'Two, please', null]);
});

it.each([
  [{ type: 'text', text: { body: 'hi' } }, [true]],
  [{ type: 'sticker', sticker: {} }, [true]],
  [{ type: 'reaction', reaction: { message_id: 'wamid.0', emoji: '👍' } }, [true]],
  [{ type: 'reaction', reaction: { message_id: 'wamid.0' } }, []],
  [{ type: 'reaction', reaction: { emoji: '👍' } }, []],
  [{ type: 'text', text: { body: 'hi all' }, group_id: 'G1' }, [false]],
  [{ type: 'unsupported', errors: [{ code: 131_051 }] }, [false]],
  [{ type: 'unknown' }, [false]],
  [{ type: 'of_a_later_version' }, [false]],
  [{ type: 'system', system: { type: 'user_changed_number' } }, []],
  [{ type: 'request_welcome' }, []],
])('%j opens the window as Meta counts it', (message, expected) => {
  const messages = [{ from: '2348012345678', id: 'a', ...message }];
  const parsed = whatsappCloudParser().parse(changed({ metadata: METADATA, messages }));
  expect(parsed.messages?.map(({ opensWindow = true }) => opensWindow)).toEqual(expected);
  expect(parsed.errors).toEqual([]);
});

it('a choice about marketing is a consent and no message', () => {
  const preference = (more: object) =>
    changed(
      {
        metadata: METADATA,
        user_preferences: [
          {
            wa_id: '2348012345678',
            category: 'marketing_messages',
            value: 'stop',
            timestamp: NOW / 1_000,
            ...more,
          },
        ],
      },
      'user_preferences',
    );
  const { messages, errors } = whatsappCloudParser().parse(preference({}));
  expect(errors).toEqual([]);
  expect(messages).toMatchObject([
    {
      from: '2348012345678',
      to: '2348000000001',
      text: null,
      sentAt: new Date(NOW),
      opensWindow: false,
      preference: { category: 'marketing', state: 'opted_out' },
    },
  ]);
  const state = (more: object) =>
    whatsappCloudParser().parse(preference(more)).messages?.[0]?.preference?.state;
  expect(state({ value: 'resume' })).toBe('opted_in');
  expect(state({ wa_id: undefined, user_id: 'NG.1' })).toBe('opted_out');
  expect(whatsappCloudParser().parse(preference({ category: 'other' }))).toEqual(none);
  expect(whatsappCloudParser().parse(preference({ value: 'maybe' })).errors).toHaveLength(1);
  const system = { type: 'user_preference_changed', marketing: 'stop' };
  const message = { from: '2348012345678', id: 'a', type: 'system', system };
  expect(
    whatsappCloudParser().parse(changed({ metadata: METADATA, messages: [message] })).messages,
  ).toMatchObject([{ preference: { state: 'opted_out' } }]);
});

const none = { reports: [], messages: [], templates: [], errors: [] };

it.each([
  ['APPROVED', 'approved'],
  ['FLAGGED', 'approved'],
  ['IN_APPEAL', 'pending'],
  ['PAUSED', 'paused'],
  ['DISABLED', 'rejected'],
  ['PENDING_DELETION', 'rejected'],
])('a change of a template to %s is %s', (event, status) => {
  const value = { event, message_template_name: 'sale', message_template_language: 'pt_BR' };
  const change = changed(value, 'message_template_status_update');
  const update = { account: '1', name: 'sale', language: 'pt_BR', status };
  expect(whatsappCloudParser().parse(change)).toEqual({ ...none, templates: [update] });
});

it('changes of other fields, and those that leave a template as it is, are skipped', () => {
  const parse = (value: object, field: string) =>
    whatsappCloudParser().parse(changed(value, field));
  expect(parse({ event: 'X' }, 'account_update')).toEqual(none);
  const named = { message_template_name: 'sale', message_template_language: 'en' };
  expect(parse({ event: 'LOCKED', ...named }, 'message_template_status_update')).toEqual(none);
  expect(parse({ event: 'PAUSED' }, 'message_template_status_update')).toEqual({
    ...none,
    errors: ['change 0 names no template or event'],
  });
});

it('a webhook needs the signature of the app over its bytes, and a challenge the token', async () => {
  const appSecret = 'app-secret-of-16-or-more';
  const verifier = whatsappCloudSignature({ appSecret, verifyToken: 'verify-token-of-16-or-more' });
  const rawBody = Buffer.from('{"object":"whatsapp_business_account"}');
  const signed = (secret: string) => ({
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`,
  });
  expect(await verifier.verify(callback({ rawBody, headers: signed(appSecret) }))).toBe(true);
  expect(await verifier.verify(callback({ rawBody, headers: signed('another-secret') }))).toBe(
    false,
  );
  expect(await verifier.verify(callback({ rawBody }))).toBe(false);
  const query = {
    'hub.mode': 'subscribe',
    'hub.verify_token': 'verify-token-of-16-or-more',
    'hub.challenge': '1158201444',
  };
  const asked = callback({ method: 'GET', query });
  expect(await verifier.verify(asked)).toBe(true);
  expect(whatsappCloudParser().parse(asked).answer?.body).toBe('1158201444');
  for (const wrong of [
    { 'hub.verify_token': 'x' },
    { 'hub.mode': 'x' },
    { 'hub.verify_token': ['a'] },
  ])
    expect(await verifier.verify(callback({ method: 'GET', query: { ...query, ...wrong } }))).toBe(
      false,
    );
});
