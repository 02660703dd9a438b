import type { SubmissionAccepted } from '../../ports/message-transport.js';
import type { Meaning, ProviderErrors } from './provider-errors.js';

export interface RecipientResult {
  /** The provider's id of the message, where it has accepted it. */
  readonly id?: string;
  /** The provider's error code, where it has not. */
  readonly code?: string;
}

/** Meanings of which one decides for a submission without an accepted recipient, the first first. */
const DECIDING: readonly Meaning[] = [
  'uncertain',
  'unauthorized',
  'account_restricted',
  'payment_required',
  'throttled',
  'retryable',
];

/** Meanings of a refusal by this provider alone. */
const UNROUTABLE: readonly Meaning[] = ['sender_unknown', 'not_routable'];

/**
 * The outcome of an answer with a result for each recipient.
 *
 * | results | outcome |
 * |---|---|
 * | a recipient without a result, or a result without id and code | uncertain |
 * | one accepted at least | accepted; the others are refused, with their codes, and those that are not routable here may leave by another provider |
 * | none accepted, one for a reason that passes | its failure, for all: nothing was accepted |
 * | none accepted, all for good | permanent, where it is one reason, else refused with their codes |
 * @param reference of the whole submission
 */
export function outcomeOfResults(
  errors: ProviderErrors,
  reference: string,
  recipients: readonly string[],
  resultOf: (recipient: string) => RecipientResult | undefined,
): SubmissionAccepted {
  const results = recipients.map((recipient) => resultOf(recipient) ?? {});
  if (results.some(({ id, code }) => id === undefined && code === undefined))
    throw errors.unusable('a result for each recipient');
  const refused = results.flatMap(({ id, code = '' }) =>
    id === undefined ? [{ code, meaning: errors.meaningOf(code) ?? 'refused' }] : [],
  );
  if (refused.length === recipients.length) {
    const deciding = DECIDING.find((one) => refused.some(({ meaning }) => meaning === one));
    const decisive = refused.find(({ meaning }) => meaning === deciding) ?? refused[0]!;
    const isOne = refused.every(({ code }) => code === decisive.code);
    if (deciding !== undefined || isOne) throw errors.failure(decisive.meaning, decisive.code);
  }
  const rejected = new Map<string, string>();
  const unroutable = new Set<string>();
  for (const [n, { id, code = '' }] of results.entries()) {
    if (id !== undefined) continue;
    const recipient = recipients[n] as string;
    const meaning = errors.meaningOf(code);
    rejected.set(recipient, codeFor(code, meaning));
    if (meaning !== undefined && UNROUTABLE.includes(meaning)) unroutable.add(recipient);
  }
  return {
    reference,
    messageIds: results.map(({ id = '' }) => id),
    ...(rejected.size > 0 && { rejected }),
    ...(unroutable.size > 0 && { unroutable }),
  };
}

function codeFor(code: string, meaning: Meaning = 'refused'): string {
  return meaning === 'refused' || meaning === 'retryable' || meaning === 'uncertain'
    ? code
    : meaning;
}
