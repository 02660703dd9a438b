import type { DeliveryReport } from '../../message/events.js';
import { PausedFailure, PermanentFailure } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import type {
  SentSubmission,
  Submission,
  SubmissionAccepted,
} from '../../ports/message-transport.js';
import type { Credential } from './http.options.js';

/** The interface's form of one channel: it has operations and credentials of its own for each. */
export interface Wire {
  readonly credential: Credential;
  readonly path: string;
  /** Field of the answer with the service's id of the submission. */
  readonly idField: string;
  /** @throws PermanentFailure where the channel cannot carry the submission */
  bodyOf(submission: Submission): Readonly<Record<string, unknown>>;
  /** Contents of the answer beside the id. */
  detailsOf?(id: string, answer: unknown): Partial<SubmissionAccepted>;
  fetch(
    submissions: readonly SentSubmission[],
    get: (path: string) => Promise<unknown>,
    now: number,
  ): Promise<FetchedReports>;
}

export interface FetchedReports {
  readonly reports: readonly DeliveryReport[];
  /** Error because of which reports may be missing. */
  readonly failure: unknown;
}

/**
 * Asks for each item, `concurrency` at a time. A pause affects every request, so no further item is
 * asked for; other failures do not affect other items.
 * @returns the first failure; a permanent one only where no item was answered
 */
export async function askForEach<T>(
  items: IterableIterator<T>,
  concurrency: number,
  ask: (item: T) => Promise<void>,
): Promise<unknown> {
  let failure: unknown;
  let refusal: unknown;
  let answered = false;
  let stopped = false;
  const reader = async (): Promise<void> => {
    for (const item of items)
      try {
        if (stopped) return;
        await ask(item);
        answered = true;
      } catch (error) {
        if (error instanceof PermanentFailure) refusal ??= error;
        else failure ??= error;
        stopped ||= error instanceof PausedFailure;
      }
  };
  await Promise.all(Array.from({ length: concurrency }, reader));
  return failure ?? (answered ? undefined : refusal);
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? own(value, name) : undefined;
}
