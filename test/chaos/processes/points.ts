import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Ledger } from '../../../libs/messaging/src/ledger/ledger.js';
import {
  MESSAGE_TRANSPORT,
  type MessageTransport,
  type Submission,
} from '../../../libs/messaging/src/ports/message-transport.js';
import { type AppEvent, BLOCKED, type Blow, type Point } from './protocol.js';

/**
 * The named points of a message's journey, put around the library's own objects before its dispatch
 * starts. The library knows nothing of them.
 */
@Injectable()
export class Points implements OnModuleInit {
  #armed: Point | undefined;
  #left = 0;
  #blow: Blow = 'SIGKILL';

  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {}

  arm(point: Point, nth: number, blow: Blow): void {
    this.#armed = point;
    this.#left = nth;
    this.#blow = blow;
  }

  disarm(): void {
    this.#armed = undefined;
  }

  onModuleInit(): void {
    const { acceptance, intents, outcomes } = this.modules.get(Ledger, { strict: false });
    const transport = this.modules.get<MessageTransport>(MESSAGE_TRANSPORT, { strict: false });
    around(acceptance, 'accept', acceptance.accept.bind(acceptance), undefined, () =>
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
    const submit = transport.submit.bind(transport);
    around(transport, 'submit', submit, started, () => this.#pass('response-read'));
    around(
      outcomes,
      'record',
      outcomes.record.bind(outcomes),
      () => this.#pass('before-outcome'),
      () => this.#pass('after-outcome'),
    );
  }

  /** A signal to oneself is delivered before the call returns. */
  #pass(point: Point): void {
    if (this.#armed !== point || --this.#left > 0) return;
    this.#armed = undefined;
    if (this.#blow === 'block') block();
    else process.kill(process.pid, this.#blow);
  }
}

function started({ id, recipients }: Submission): void {
  const at = Number(process.hrtime.bigint()) / 1e6;
  tell({ event: 'starting', key: id, messages: recipients.length, at });
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
function around<A extends unknown[], R>(
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
