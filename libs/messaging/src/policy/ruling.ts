import type { MessageContent } from '../message/message.js';
import type { Verdict } from '../ports/messaging-policy.js';

/** What the policies came to for one message; nothing at all: it may go as it is. */
export type Ruling =
  | {
      readonly decision: 'deny';
      readonly code: string;
      readonly reason: string;
      readonly policy: string;
    }
  /** `until` in epoch milliseconds. */
  | { readonly decision: 'defer'; readonly until: number; readonly policy: string }
  | { readonly decision: 'substitute'; readonly content: MessageContent; readonly policy: string };

const LONGEST_CODE = 64;

/** What two rulings in a row come to. What is deferred is judged anew when it is due. */
export function after(
  before: Ruling | undefined,
  verdict: Verdict,
  policy: string,
): Ruling | undefined {
  if (before?.decision === 'deny') return before;
  switch (verdict.decision) {
    case 'allow':
      return before;
    case 'deny':
      return { ...verdict, code: verdict.code.slice(0, LONGEST_CODE), policy };
    case 'defer': {
      const until = verdict.until.getTime();
      if (Number.isNaN(until)) throw new RangeError(`policy ${policy}: until is no valid date`);
      return before?.decision === 'defer' && before.until >= until
        ? before
        : { decision: 'defer', until, policy };
    }
    case 'substitute':
      return before?.decision === 'defer' ? before : { ...verdict, policy };
  }
}
