import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  DeferredFailure,
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
} from '../../message/errors.js';
import type { MessageContent } from '../../message/message.js';
import { systemClock } from '../../ports/clock.js';
import type { Submission } from '../../ports/message-transport.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { refuse, WhatsAppCloudServer } from '../../../../../test/support/whatsapp-cloud-server.js';
import { whatsappCloud, type WhatsAppCloudTransport } from './whatsapp-cloud.transport.js';

const { signal } = new AbortController();

let server: WhatsAppCloudServer;
let transport: WhatsAppCloudTransport;
let monotonic: number;
beforeEach(async () => {
  monotonic = 1_000_000;
  server = await WhatsAppCloudServer.start();
  transport = cloud();
});
afterEach(async () => {
  await transport.onApplicationShutdown();
  await server.close();
});

function cloud(options = {}): WhatsAppCloudTransport {
  const { url: baseUrl, token, phoneNumberId } = server;
  const clock = { ...systemClock, monotonic: () => monotonic };
  return whatsappCloud({ baseUrl, token, phoneNumberId, ...options })(
    transportContext({ clock }),
  ) as WhatsAppCloudTransport;
}

function send(to: string, content: MessageContent = { kind: 'text', text: 'Hi' }, sender = '') {
  const submission = { id: 'b-s0', channel: 'whatsapp', sender, content, recipients: [to] };
  return transport.submit(submission as unknown as Submission, signal).then(
    () => 'accepted',
    (error: Error) => error,
  );
}

function refuseOnce(code: number): void {
  server.answer((_request, response) => {
    server.answer(undefined);
    refuse(response, 400, code, 'refused');
  });
}

it('a recipient with too many messages waits six seconds, without requests; others go on', async () => {
  refuseOnce(131056);
  expect(await send('2348012345678')).toMatchObject({ code: '131056', retryAfter: 6_000 });
  monotonic += 2_000;
  const waiting = await send('2348012345678');
  expect(waiting).toBeInstanceOf(DeferredFailure);
  expect(waiting).toMatchObject({ code: '131056', retryAfter: 4_000 });
  expect(server.requests).toHaveLength(1);
  expect(await send('2348012345679')).toBe('accepted');
  monotonic += 4_000;
  expect(await send('2348012345678')).toBe('accepted');
});

const template = (name: string): MessageContent => ({
  kind: 'template',
  template: name,
  language: 'en',
  params: [],
});

it.each([
  ['PAUSED', '132015'],
  ['DISABLED', '132016'],
])(
  'a template that is %s is tried once a minute, and other templates leave',
  async (status, code) => {
    const components = [{ type: 'BODY', text: 'Hi' }];
    const known = { language: 'en', category: 'MARKETING', components };
    server.templates.push({ ...known, name: 'sale', status });
    server.templates.push({ ...known, name: 'news', status: 'APPROVED' });
    for (const _ of [1, 2]) {
      const refused = await send('2348012345678', template('sale'));
      expect(refused).toBeInstanceOf(PermanentFailure);
      expect(refused).toMatchObject({ code });
    }
    expect(server.requests).toHaveLength(1);
    expect(await send('2348012345678', template('news'))).toBe('accepted');
    server.templates[0]!.status = 'APPROVED';
    monotonic += 60_000;
    expect(await send('2348012345678', template('sale'))).toBe('accepted');
  },
);

it.each([
  [131042, 'payment_required', 60_000],
  [130429, 'throttled', 5_000],
])('a number that cannot send (%i) pauses, and other numbers go on', async (code, reason, wait) => {
  await transport.onApplicationShutdown();
  const ours = {
    '2348000000001': server.phoneNumberId,
    '2348000000002': server.otherPhoneNumberId,
  };
  transport = cloud({ phoneNumberId: undefined, phoneNumberIds: ours });
  refuseOnce(code);
  const from = (number: string) => send('2348012345678', undefined, number);
  const refused = await from('2348000000001');
  expect(refused).toBeInstanceOf(DeferredFailure);
  expect(refused).toMatchObject({ code: reason, retryAfter: wait });
  monotonic += 1_000;
  expect(await from('2348000000001')).toMatchObject({ code: reason, retryAfter: wait - 1_000 });
  expect(server.requests).toHaveLength(1);
  expect(await from('2348000000002')).toBe('accepted');
  monotonic += wait;
  expect(await from('2348000000001')).toBe('accepted');
});

it('a refused token pauses the provider, also with several numbers', async () => {
  await transport.onApplicationShutdown();
  transport = cloud({ phoneNumberIds: { '2348000000002': server.otherPhoneNumberId } });
  refuseOnce(190);
  expect(await send('2348012345678')).toBeInstanceOf(PausedFailure);
});

it('a function finds the id of the number that sends', async () => {
  await transport.onApplicationShutdown();
  const ids = new Map([['2348000000001', server.phoneNumberId]]);
  transport = cloud({ phoneNumberId: undefined, phoneNumberIds: (of: string) => ids.get(of) });
  expect(await send('2348012345678', undefined, '2348000000001')).toBe('accepted');
  const unknown = await send('2348012345678', undefined, '2348000000002');
  expect(unknown).toMatchObject({ code: 'sender_unknown' });
});

it('a message whose number cannot be looked up is tried again', async () => {
  await transport.onApplicationShutdown();
  const phoneNumberIds = () => Promise.reject(new Error('no database'));
  transport = cloud({ phoneNumberId: undefined, phoneNumberIds });
  expect(await send('2348012345678')).toBeInstanceOf(RetryableFailure);
  expect(server.requests).toEqual([]);
});

it('a configuration without a number id, and without a function for it, fails the boot by name', () => {
  expect(() => cloud({ phoneNumberId: undefined })).toThrow(
    /^whatsappCloud\.phoneNumberId: is missing/,
  );
});
