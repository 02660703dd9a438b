import { Logger } from '@nestjs/common';
import { timeLimit, untilAborted } from '../message/time-limit.js';
import { errorName } from '../message/errors.js';
import type { DeliveryReport } from '../message/events.js';
import type { MessageStore } from '../store/message-store.js';
import type { MessageTransport, SentSubmission } from '../ports/message-transport.js';
import type { MessagingJob } from './messaging.jobs.js';

const EVERY = 2_000;
const MAX_UNMATCHED = 1_000;
const MAX_BATCHES = 500;
const SUBMISSIONS = 100;
/** Most recipients in one call, except for one larger submission: a provider pages through them. */
const MAX_RECIPIENTS = 10_000;
/** Time until the signal of a call aborts, in milliseconds. */
const TIME_LIMIT = 60_000;
/** Time after the signal until the call is given up, in milliseconds. */
const GRACE = 1_000;

const logger = new Logger('Reconcile');

/**
 * Polls messages without a final report, matches reports that came before their submission, and
 * deletes reports that match nothing. A provider that lists what it took is asked for the messages whose
 * answer was lost. A failed poll is repeated when the batch is next due, and does not delay other polls.
 */
export function reconcileJob(
  store: MessageStore,
  transports: ReadonlyMap<string, MessageTransport>,
  timeLimit = TIME_LIMIT,
): MessagingJob {
  return {
    name: 'reconcile',
    every: EVERY,
    run: async (signal) => {
      await store.reports.sweep(MAX_UNMATCHED).catch((error: unknown) => {
        logger.warn(`Unmatched reports were not processed: ${errorName(error)}`);
      });
      const claimed = await store.reportPolls.claim(MAX_BATCHES);
      for (const [provider, transport] of transports) {
        const own = claimed.filter((submission) => submission.provider === provider);
        for (const call of callsOf(own)) {
          if (signal.aborted) return;
          for (const read of [
            reported(transport, call),
            listed(store, provider, transport, call),
          ]) {
            try {
              await store.reports.record(await limited(signal, timeLimit, read), { provider });
            } catch (error) {
              logger.warn(
                `${provider}: reports not fetched, polled again later: ${errorName(error)}`,
              );
            }
          }
        }
      }
    },
  };
}

function* callsOf<T extends SentSubmission>(submissions: readonly T[]): Generator<readonly T[]> {
  let call: T[] = [];
  let capacity = MAX_RECIPIENTS;
  for (const submission of submissions) {
    capacity -= submission.recipients.length;
    if (call.length === SUBMISSIONS || (capacity < 0 && call.length > 0)) {
      yield call;
      call = [];
      capacity = MAX_RECIPIENTS - submission.recipients.length;
    }
    call.push(submission);
  }
  if (call.length > 0) yield call;
}

type Read = (limit: AbortSignal) => Promise<readonly DeliveryReport[]>;

function reported(transport: MessageTransport, submissions: readonly SentSubmission[]): Read {
  return async (limit) => (await transport.fetchReports?.(submissions, limit)) ?? [];
}

function listed(
  store: MessageStore,
  provider: string,
  transport: MessageTransport,
  submissions: readonly SentSubmission[],
): Read {
  const lost = submissions.filter(({ reference }) => reference === null);
  return async (limit) => {
    if (!transport.listSent || lost.length === 0) return [];
    return store.lostAnswers.find(await transport.listSent(lost, limit), provider);
  };
}

async function limited(
  signal: AbortSignal,
  longest: number,
  read: Read,
): Promise<readonly DeliveryReport[]> {
  const limit = timeLimit(longest, signal);
  const end = timeLimit(longest + GRACE, signal);
  return untilAborted(end, read(limit));
}
