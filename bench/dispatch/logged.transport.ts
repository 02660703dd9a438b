import type { MessageTransport, Submission, SubmissionAccepted } from '@dundun/messaging/ports';
import { openSync, readFileSync, writeSync } from 'node:fs';
import { moment } from '../harness/moment.js';

/** Log of request starts with their message counts; it survives a kill of the process. */
export interface Start {
  readonly at: number;
  readonly messages: number;
}

/** Logs each start before it calls the real transport. */
export class LoggedTransport implements MessageTransport {
  readonly name;
  readonly capabilities;
  readonly #file: number;

  constructor(
    private readonly inner: MessageTransport,
    path: string,
  ) {
    this.name = inner.name;
    this.capabilities = inner.capabilities;
    this.#file = openSync(path, 'a');
  }

  submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted> {
    writeSync(
      this.#file,
      Buffer.from(new Float64Array([moment(), submission.recipients.length]).buffer),
    );
    return this.inner.submit(submission, signal, written);
  }
}

export function readStarts(path: string): Start[] {
  const bytes = readFileSync(path);
  const starts: Start[] = [];
  for (let at = 0; at + 16 <= bytes.length; at += 16)
    starts.push({ at: bytes.readDoubleLE(at), messages: bytes.readDoubleLE(at + 8) });
  return starts;
}
