import { Logger } from '@nestjs/common';
import type { DeliveryReport } from '../message/delivery-report.js';
import type { MessageStore } from '../store/message-store.js';
import type { MessageTransport, SentSubmission } from '../ports/message-transport.js';
import type { MessagingJob } from './messaging.jobs.js';

const EVERY = 2_000;
/** Reports of nobody looked at in one run. */
const WAITING = 1_000;
/** Batches claimed in one run, and submissions asked after in one call. */
const BATCHES = 500;
const SUBMISSIONS = 100;
/** Recipients asked after in one call, but for a submission that has more alone: a provider has a few pages of them. */
const RECIPIENTS = 10_000;
/** Milliseconds one call may take. */
const PATIENCE = 60_000;
/** And so many more to tell what it has learned, whatever the transport thinks of signals. */
const GRACE = 1_000;

const logger = new Logger('Reconcile');

/**
 * Asks the provider after messages that lack a final report, matches reports that came too early, and
 * forgets those of nobody. What fails is asked again when the batch is next due; it holds up no other.
 */
export function reconcileJob(
  store: MessageStore,
  transport: MessageTransport,
  patience = PATIENCE,
): MessagingJob {
  return {
    name: 'reconcile',
    every: EVERY,
    run: async (signal) => {
      await store.reports
        .sweep(WAITING)
        .catch((error: unknown) => logger.warn(`Waiting reports stay: ${nameOf(error)}`));
      const own = (await store.reportPolls.claim(BATCHES)).filter(
        (s) => s.provider === transport.name,
      );
      for (const asked of callsOf(own)) {
        if (signal.aborted) return;
        try {
          const reports = await fetched(transport, asked, signal, patience);
          await store.reports.record(reports, { provider: transport.name });
        } catch (error) {
          logger.warn(`Reports could not be fetched, asked again later: ${nameOf(error)}`);
        }
      }
    },
  };
}

function* callsOf<T extends SentSubmission>(submissions: readonly T[]): Generator<readonly T[]> {
  let call: T[] = [];
  let room = RECIPIENTS;
  for (const submission of submissions) {
    room -= submission.recipients.length;
    if (call.length === SUBMISSIONS || (room < 0 && call.length > 0)) {
      yield call;
      call = [];
      room = RECIPIENTS - submission.recipients.length;
    }
    call.push(submission);
  }
  if (call.length > 0) yield call;
}

async function fetched(
  transport: MessageTransport,
  submissions: readonly SentSubmission[],
  signal: AbortSignal,
  patience: number,
): Promise<readonly DeliveryReport[]> {
  if (!transport.fetchReports) return [];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
  const end = AbortSignal.any([signal, AbortSignal.timeout(patience + GRACE)]);
  let giveUp!: () => void;
  const tooLong = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(end.reason as Error);
    end.addEventListener('abort', giveUp);
  });
  try {
    return await Promise.race([transport.fetchReports(submissions, limit), tooLong]);
  } finally {
    end.removeEventListener('abort', giveUp);
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
