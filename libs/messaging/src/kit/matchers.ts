import { addressOf } from '../message/address.js';
import type { SentMessage } from './outbox.js';

/** Fields that `toHaveSent()` compares; asymmetric matchers such as `stringContaining` are allowed. */
export type ExpectedMessage = { readonly [Field in keyof SentMessage]?: unknown };

/** Matchers on a `MessagingTester`. */
export interface MessagingMatchers<R> {
  /**
   * Passes where a provider has accepted a message with these fields; without fields, any message.
   * `await messaging.idle()` first.
   * @example
   * expect(messaging).toHaveSent({ channel: 'sms', to: '2348012345678', body: 'Hello' });
   */
  toHaveSent(expected?: ExpectedMessage): R;
  /** Passes where no provider has accepted a message. `await messaging.idle()` first. */
  toHaveSentNothing(): R;
}

/** Members of a `MessagingTester` that the matchers read. */
interface Tester {
  sent(): readonly SentMessage[];
  readonly busy: boolean;
  readonly next: Date | undefined;
}

/** Context that Jest and Vitest give a matcher. */
interface MatcherContext {
  equals(one: unknown, other: unknown): boolean;
  readonly utils: {
    printExpected(value: unknown): string;
    printReceived(value: unknown): string;
  };
  readonly isNot?: boolean;
}

interface MatcherResult {
  readonly pass: boolean;
  message(): string;
}

/** Most messages that a failure shows. */
const MOST_SHOWN = 10;
const SHOWN = ['channel', 'to', 'from', 'body', 'subject', 'template', 'params'] as const;

/** For `expect.extend()` of a runner with Jest's interface. */
export const messagingMatchers = {
  toHaveSent(
    this: MatcherContext,
    received: unknown,
    expected: ExpectedMessage = {},
  ): MatcherResult {
    const tester = testerOf(received, 'toHaveSent');
    const messages = tester.sent();
    const pass = messages.some((message) => isLike(this, message, expected));
    return {
      pass,
      message: () =>
        [
          `expect(messaging)${this.isNot ? '.not' : ''}.toHaveSent(expected)`,
          '',
          `Expected${this.isNot ? ' not' : ''}: ${this.utils.printExpected(expected)}`,
          sentText(this, messages),
          ...(pass ? [] : hints(tester)),
        ].join('\n'),
    };
  },

  toHaveSentNothing(this: MatcherContext, received: unknown): MatcherResult {
    const tester = testerOf(received, 'toHaveSentNothing');
    const messages = tester.sent();
    return {
      // A message that is on its way would make the assertion true by chance.
      pass: messages.length === 0 && !tester.busy,
      message: () =>
        [
          `expect(messaging)${this.isNot ? '.not' : ''}.toHaveSentNothing()`,
          '',
          sentText(this, messages),
          ...hints(tester),
        ].join('\n'),
    };
  },
};

function testerOf(received: unknown, matcher: string): Tester {
  if (typeof (received as Partial<Tester> | undefined)?.sent === 'function')
    return received as Tester;
  throw new TypeError(
    `expect(…).${matcher}() needs a MessagingTester: expect(app.get(MessagingTester)).${matcher}()`,
  );
}

function isLike(context: MatcherContext, message: SentMessage, expected: ExpectedMessage): boolean {
  return Object.entries(expected).every(([field, value]) => {
    const actual = message[field as keyof SentMessage];
    return context.equals(actual, value) || context.equals(actual, addressIn(field, value));
  });
}

/** A number or address in a usual form, such as `+234 801 234 5678`, as messages have it. */
function addressIn(field: string, value: unknown): unknown {
  if (typeof value !== 'string' || (field !== 'to' && field !== 'from')) return value;
  return addressOf('phone', value)?.value ?? addressOf('email', value)?.value ?? value;
}

function sentText({ utils }: MatcherContext, messages: readonly SentMessage[]): string {
  if (messages.length === 0) return 'Sent: nothing';
  const shown = messages
    .slice(-MOST_SHOWN)
    .map((message) => `  ${utils.printReceived(brief(message))}`);
  const left = messages.length - shown.length;
  return [`Sent${left > 0 ? ` (${left} earlier ones are left out)` : ''}:`, ...shown].join('\n');
}

function brief(message: SentMessage): object {
  return Object.fromEntries(
    SHOWN.flatMap((field) => (message[field] === undefined ? [] : [[field, message[field]]])),
  );
}

function hints({ busy, next }: Tester): string[] {
  if (busy) return ['', 'The dispatch is at work: await messaging.idle() before the expectation.'];
  if (!next) return [];
  return [
    '',
    `The next message is due at ${next.toISOString()}: await messaging.clock.advance(…).`,
  ];
}
