import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { mkdirSync } from 'node:fs';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import {
  MESSAGE_TRANSPORTS,
  type MessageTransport,
  type Submission,
} from '../../../libs/messaging/src/ports/message-transport.js';
import {
  DeferredFailure,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
} from '../../../libs/messaging/src/message/errors.js';
import {
  type Answer,
  type AppEvent,
  type Arming,
  BLOCKED,
  moment,
  type Point,
} from './protocol.js';

/**
 * The named points of a message's journey, put around the library's own objects before its dispatch
 * starts. The library has no code for them.
 */
@Injectable()
export class Points implements OnModuleInit {
  #armed: Arming | undefined;
  #left = 0;

  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {}

  arm(arming: Arming): void {
    this.#armed = arming;
    this.#left = arming.nth;
  }

  /** The process that accepts passes a point of its own. */
  pass(point: Point): void {
    this.#pass(point);
  }

  disarm(): void {
    this.#armed = undefined;
  }

  onModuleInit(): void {
    const { newBatches, intents, outcomes, reports } = this.modules.get(MessageStore, {
      strict: false,
    });
    const transports = this.modules.get<ReadonlyMap<string, MessageTransport>>(MESSAGE_TRANSPORTS, {
      strict: false,
    });
    around(newBatches, 'enqueue', newBatches.enqueue.bind(newBatches), undefined, () =>
      this.#pass('after-accept'),
    );
    around(
      intents,
      'record',
      intents.record.bind(intents),
      () => {
        this.#pass('before-intent');
        // By then the statement has left for the server, and its answer has not been read.
        setImmediate(() => setImmediate(() => this.#pass('inside-intent')));
      },
      () => this.#pass('after-intent'),
    );
    for (const transport of transports.values()) {
      const submit = transport.submit.bind(transport);
      const told: typeof submit = (submission, signal, written) =>
        answered(submission, submit(submission, signal, written));
      around(transport, 'submit', told, started, () => this.#pass('response-read'));
    }
    around(
      outcomes,
      'record',
      outcomes.record.bind(outcomes),
      () => this.#pass('before-outcome'),
      () => this.#pass('after-outcome'),
    );
    const record = reports.record.bind(reports);
    const report = async (...args: Parameters<typeof record>) => {
      if (args[0].length === 0) return record(...args);
      this.#pass('before-report');
      const recorded = await record(...args);
      this.#pass('after-report');
      return recorded;
    };
    Object.defineProperty(reports, 'record', { value: report });
  }

  /** A signal to the own process is delivered before the call returns. */
  #pass(point: Point): void {
    const armed = this.#armed;
    if (armed?.point !== point || --this.#left > 0) return;
    this.#armed = undefined;
    if (armed.claim !== undefined && !isFirst(armed.claim)) return;
    if (armed.fault === 'block') block();
    else process.kill(process.pid, armed.fault);
  }
}

/** Later processes find the directory. */
function isFirst(claim: string): boolean {
  try {
    mkdirSync(claim);
    return true;
  } catch {
    return false;
  }
}

/** Tells what the request has led to before the library learns it. */
async function answered<T>({ id }: Submission, answer: Promise<T>): Promise<T> {
  const say = (of: Answer) => tell({ event: 'answered', key: id, answer: of, at: moment() });
  try {
    const accepted = await answer;
    say('final');
    return accepted;
  } catch (error) {
    say(answerOf(error));
    throw error;
  }
}

function answerOf(error: unknown): Answer {
  if (!(error instanceof SubmitFailure)) return 'uncertain';
  if (error.code === 'throttled')
    return error instanceof PausedUncertainFailure ? 'throttled in doubt' : 'throttled';
  if (error instanceof DeferredFailure) return 'deferred';
  if (error instanceof PermanentFailure) return 'final';
  if (error instanceof PausedFailure) return 'refused';
  return error instanceof RetryableFailure ? 'refused' : 'uncertain';
}

function started({ id, recipients }: Submission): void {
  tell({ event: 'starting', key: id, messages: recipients.length, at: moment() });
}

/** No timer, no socket and no promise gets its turn meanwhile. */
export function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED);
  tell({ event: 'blocked' });
}

export function tell(event: AppEvent): void {
  process.send?.(event);
}

/** Replaces a method of one object by itself with something before and something after its success. */
export function around<A extends unknown[], R>(
  target: object,
  name: string,
  method: (...args: A) => Promise<R>,
  before: ((first: A[0]) => void) | undefined,
  after: () => void,
): void {
  const value = async (...args: A): Promise<R> => {
    before?.(args[0]);
    const result = await method.apply(target, args);
    after();
    return result;
  };
  Object.defineProperty(target, name, { value });
}
