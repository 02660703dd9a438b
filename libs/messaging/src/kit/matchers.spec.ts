import { expect, it } from '@jest/globals';
import { type MessagingMatchers, messagingMatchers } from './matchers.js';
import type { SentMessage } from './outbox.js';

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends MessagingMatchers<R> {}
}

expect.extend(messagingMatchers);

const message = {
  channel: 'sms',
  to: '2348012345678',
  from: 'ACME',
  body: 'Your code is 481516',
} as SentMessage;

function tester(sent: readonly SentMessage[], state: { busy?: boolean; next?: Date } = {}) {
  return { sent: () => sent, busy: false, next: undefined, ...state };
}

it('toHaveSent() compares the given fields, numbers in any usual form, and asymmetric matchers', () => {
  const messaging = tester([message]);
  expect(messaging).toHaveSent();
  expect(messaging).toHaveSent({
    channel: 'sms',
    to: '2348012345678',
    body: 'Your code is 481516',
  });
  expect(messaging).toHaveSent({ to: '+234 801 234 5678' });
  expect(messaging).toHaveSent({ body: expect.stringMatching(/\d{6}/) });
  expect(messaging).not.toHaveSent({ to: '2348012345679' });
  expect(messaging).not.toHaveSent({ channel: 'email', to: '2348012345678' });
  expect(messaging).not.toHaveSent({ subject: 'Hello' });
});

it('toHaveSentNothing() fails where a message was sent, and while a message is in flight', () => {
  expect(tester([])).toHaveSentNothing();
  expect(tester([message])).not.toHaveSentNothing();
  expect(() => expect(tester([], { busy: true })).toHaveSentNothing()).toThrow(
    'await messaging.idle() before',
  );
});

it('a failed matcher shows the sent messages', () => {
  expect(() => expect(tester([message])).toHaveSent({ body: 'Hello' })).toThrow(
    /Expected: .*Hello[\s\S]*Sent:[\s\S]*481516/,
  );
  expect(() => expect(tester([message])).not.toHaveSent()).toThrow(/Expected not/);
  const many = Array.from({ length: 12 }, () => message);
  expect(() => expect(tester(many)).toHaveSentNothing()).toThrow('2 earlier ones are left out');
});

it('a failed matcher names the step that the test left out', () => {
  expect(() => expect(tester([], { busy: true })).toHaveSent()).toThrow('await messaging.idle()');
  const next = new Date('2026-01-02T03:04:05.000Z');
  expect(() => expect(tester([], { next })).toHaveSent()).toThrow(
    'due at 2026-01-02T03:04:05.000Z: await messaging.clock.advance',
  );
});

it('a matcher refuses a value that is no tester', () => {
  expect(() => expect({}).toHaveSent()).toThrow('needs a MessagingTester');
});
