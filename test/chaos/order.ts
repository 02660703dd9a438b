import type { ChildProcess } from 'node:child_process';
import type { DataSource } from 'typeorm';
import { membersOf } from '../../libs/messaging/src/store/rows/span.js';
import type { App } from './app.js';
import { type Answer, type AppEvent, moment } from './processes/protocol.js';

/** Failures of one message after which it waits by itself, and failing messages after which their batch does. */
const FAILURES_BEFORE_WAIT = 3;
const FAILING_OF_BATCH = 2;

/** A process that sends. */
type Sender = App | ChildProcess;

/** Something that happened to a submission. Milliseconds of the machine's monotonic clock. */
type Step =
  | { readonly what: 'start'; readonly key: string; readonly at: number; readonly by: Sender }
  | { readonly what: Answer; readonly key: string; readonly at: number; readonly by: Sender }
  /** The process died. */
  | { readonly what: 'death'; readonly at: number; readonly by: Sender };

/** When `send()` was first called, perhaps by a process that died, and when it resolved. */
interface Acceptance {
  readonly calledAt: number;
  readonly at: number;
}

interface MessageRow {
  readonly batch: string;
  readonly position: number;
  readonly lane: string;
  readonly priority: number;
}

interface SubmissionRow {
  readonly batch: string;
  readonly n: number;
  readonly first: number;
  readonly last: number;
  readonly members: string | null;
  readonly provider: string;
  /** Epoch microseconds of its first intent. */
  readonly intendedAt: string;
}

interface Tracked {
  readonly name: string;
  readonly batch: string;
  readonly priority: number;
  /** `waiting`: it has not started, or was not taken for now; `apart`: it waits by itself. */
  state: 'waiting' | 'in flight' | 'orphaned' | 'apart' | 'ended';
  by: Sender | undefined;
  failures: number;
  /** It may have been accepted: until its last answer it is asked after, or sent again by itself. */
  isUncertain: boolean;
  why: string;
  /** Time of its last answer. */
  since: number;
  /** Its starts that are still to come. */
  readonly starts: { readonly key: string; readonly at: number; readonly provider: string }[];
}

/** Keeps what the processes of the app tell of their requests, and checks the order of each lane by it. */
export class LaneOrders {
  readonly #steps: Step[] = [];
  /** First calls, by the key of the send. */
  readonly #calls = new Map<string, number>();
  /** By batch. One whose answer was lost with its process is accepted with the answer to the repetition. */
  readonly #acceptances = new Map<string, Acceptance>();

  /** Hears a child process until it dies. */
  follow(child: ChildProcess): void {
    child.on('message', (event: AppEvent) => this.hear(event, child));
    child.once('exit', () => this.died(child));
  }

  hear(event: AppEvent, by: Sender): void {
    if (event.event === 'starting')
      this.#steps.push({ what: 'start', key: event.key, at: event.at, by });
    else if (event.event === 'answered')
      this.#steps.push({ what: event.answer, key: event.key, at: event.at, by });
    else if (event.event === 'calling') this.calling(event.key, event.at);
    else if (event.event === 'accepted' && event.at !== undefined)
      this.accepted(event.key, event.id, event.at);
  }

  /** A send begins, perhaps not for the first time. */
  calling(key: string, at = moment()): void {
    if (!this.#calls.has(key)) this.#calls.set(key, at);
  }

  /** The send has resolved. A repeated one is answered with the same batch. */
  accepted(key: string, batch: string, at = moment()): void {
    const calledAt = this.#calls.get(key);
    if (calledAt !== undefined && !this.#acceptances.has(batch))
      this.#acceptances.set(batch, { calledAt, at });
  }

  died(by: Sender): void {
    this.#steps.push({ what: 'death', at: moment(), by });
  }

  /**
   * @returns messages that others have passed without a documented reason
   * @throws Error where no process has told of a message whose acceptance is known
   */
  async passed(store: DataSource): Promise<string[]> {
    const isKnown = (step: Step): boolean =>
      step.what === 'start' && this.#acceptances.has(step.key.replace(/-s\d+$/, ''));
    if (!this.#steps.some(isKnown)) throw new Error('no start of an accepted message is known');
    return passedMessages(store, this.#steps, (batch) => this.#acceptances.get(batch));
  }
}

/**
 * Messages that others of their lane and provider have passed, each with what it was waiting for, where
 * the documentation names no reason for it. One passes another if it starts while the other one,
 * which was accepted before the first was sent, waits, and leaves by the same provider later.
 */
async function passedMessages(
  store: DataSource,
  steps: readonly Step[],
  acceptanceOf: (batch: string) => Acceptance | undefined,
): Promise<string[]> {
  const messages = (await store.query(
    `SELECT m.batch, m.position, b.lane, b.priority FROM messaging_message m
     JOIN messaging_batch b ON b.id = m.batch
     ORDER BY b.lane, b.priority, b.available_at, b.id, m.position`,
  )) as MessageRow[];
  const rows = (await store.query(
    `SELECT batch, n, first_position AS first, last_position AS last, members, provider,
       first_sent_at AS "intendedAt"
     FROM messaging_submission`,
  )) as SubmissionRow[];
  const submissions = new Map(rows.map((row) => [`${row.batch}-s${row.n}`, row]));
  const tracked = new Map<string, Tracked>();
  const lanes = new Map<string, Tracked[]>();
  for (const { batch, position, lane, priority } of messages) {
    const name = `${batch}-${position}`;
    const message: Tracked = {
      name,
      batch,
      priority: Number(priority),
      state: 'waiting',
      by: undefined,
      failures: 0,
      isUncertain: false,
      why: 'not started',
      since: 0,
      starts: [],
    };
    tracked.set(name, message);
    const own = lanes.get(lane);
    if (own) own.push(message);
    else lanes.set(lane, [message]);
  }
  const laneOf = new Map(
    [...lanes.values()].flatMap((lane) => lane.map((message) => [message.name, lane] as const)),
  );
  const membersOfKey = (key: string): Tracked[] => {
    const row = submissions.get(key);
    if (!row) return [];
    const members = membersOf(row.members);
    const of: Tracked[] = [];
    for (let position = Number(row.first); position <= Number(row.last); position++) {
      const message = members.has(position) && tracked.get(`${row.batch}-${position}`);
      if (message) of.push(message);
    }
    return of;
  };
  const sorted = [...steps].sort((a, b) => a.at - b.at);
  for (const step of sorted)
    if (step.what === 'start')
      for (const message of membersOfKey(step.key))
        message.starts.push({
          key: step.key,
          at: step.at,
          provider: submissions.get(step.key)?.provider ?? '',
        });

  const epoch = Date.now() - moment();
  /** The process that last started a message of the lane. */
  const holders = new Map<Tracked[], Sender>();
  /** When the last holder of the lane that died did so. */
  const holderDiedAt = new Map<Tracked[], number>();
  /** The process that last started the submission, by its key. */
  const startedBy = new Map<string, Sender>();
  /** Keys of submissions that wait in their place, and may have been accepted. */
  const doubted = new Set<string>();
  // Its holder died between its intent and its start, or between its start and the record of its answer.
  const isLeftOpen = (key: string, by: Sender, lane: Tracked[]): boolean => {
    const former = startedBy.get(key);
    const intendedAt = Number(submissions.get(key)?.intendedAt) / 1_000 - epoch;
    return former ? former !== by : intendedAt < (holderDiedAt.get(lane) ?? -Infinity);
  };

  const passed = new Map<string, string>();
  const failing = new Map<string, Set<string>>();
  for (const step of sorted) {
    if (step.what === 'death') {
      for (const lane of lanes.values())
        if ((holders.get(lane) ?? step.by) === step.by) holderDiedAt.set(lane, step.at);
      for (const message of tracked.values())
        if (message.state === 'in flight' && message.by === step.by)
          message.state = message.isUncertain ? 'apart' : 'orphaned';
      continue;
    }
    const members = membersOfKey(step.key);
    if (step.what === 'start') {
      const [first] = members;
      if (!first) continue;
      const { provider = '' } = submissions.get(step.key) ?? {};
      const { calledAt = -Infinity } = acceptanceOf(first.batch) ?? {};
      const lane = laneOf.get(first.name) ?? [];
      const isLeft = isLeftOpen(step.key, step.by, lane);
      // What had left before may have been accepted: its repetition passes no message.
      const isRepeated = doubted.has(step.key) || (isLeft && startedBy.has(step.key));
      for (const other of first.isUncertain || isRepeated ? [] : lane) {
        if (other === first) break;
        if (other.priority !== first.priority || members.includes(other)) continue;
        // Another process holds the lane by now: what the former one has left open goes first.
        const isOrphan = other.state === 'in flight' && other.by !== step.by && !other.isUncertain;
        const isWaiting = other.state === 'waiting' || other.state === 'orphaned' || isOrphan;
        if (!isWaiting || other.starts[0]?.provider !== provider || passed.has(other.name))
          continue;
        // What a process that died has left open goes before all others, in the order of the lane.
        if (isLeft && !isLeftOpen(other.starts[0].key, step.by, lane)) continue;
        const { at: acceptedAt = Infinity } = acceptanceOf(other.batch) ?? {};
        if (acceptedAt > calledAt && other.batch !== first.batch) continue;
        passed.set(
          other.name,
          `${other.name} (${other.state}, ${other.why} ${(step.at - other.since).toFixed(3)} ms before, next start ${((other.starts[0]?.at ?? 0) - step.at).toFixed(3)} ms later) by ${first.name} (${first.state})`,
        );
      }
      holders.set(lane, step.by);
      startedBy.set(step.key, step.by);
      for (const message of members) {
        message.state = 'in flight';
        message.by = step.by;
        // The successor does not know whether the provider has what was left open.
        message.isUncertain ||= isLeft;
        message.starts.shift();
      }
      continue;
    }
    for (const message of members) {
      if (message.state !== 'in flight' || message.by !== step.by) continue;
      const { what } = step;
      if (what === 'final') {
        message.state = 'ended';
        continue;
      }
      message.failures++;
      message.isUncertain ||= what === 'uncertain';
      if (what === 'throttled in doubt') doubted.add(step.key);
      message.why = what;
      message.since = step.at;
      const ofBatch = failing.get(message.batch) ?? new Set<string>();
      failing.set(message.batch, ofBatch.add(message.name));
      const isOfBatch =
        (what === 'refused' || what === 'uncertain') && ofBatch.size >= FAILING_OF_BATCH;
      const waits =
        what === 'deferred' ||
        message.isUncertain ||
        message.failures >= FAILURES_BEFORE_WAIT ||
        isOfBatch;
      message.state = waits ? 'apart' : 'waiting';
      // The messages of the batch that have not started wait with them, so that another batch is the probe.
      if (!isOfBatch) continue;
      for (const other of laneOf.get(message.name) ?? [])
        if (other.batch === message.batch && other.state === 'waiting') other.state = 'apart';
    }
  }
  return [...passed.values()];
}
