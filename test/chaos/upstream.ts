import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { BookEntry, Faults, Outage } from './processes/protocol.js';

interface Refusals {
  readonly keys: string[];
  readonly wrong: number;
  readonly throttles: number;
}

/** The process that keeps the book. */
export class Upstream {
  readonly #held: string[] = [];
  #onHeld: ((key: string) => void) | undefined;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    child.on('message', ({ key }: { key?: string }) => {
      if (key === undefined) return;
      this.#held.push(key);
      this.#onHeld?.(key);
    });
  }

  /** @param argument of the script, such as its seed */
  static async start(script: string, argument: number | string): Promise<Upstream> {
    const child = fork(script, [String(argument)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new Upstream(child, `http://127.0.0.1:${port}`);
  }

  async book(): Promise<BookEntry[]> {
    return (await (await fetch(`${this.url}/book`)).json()) as BookEntry[];
  }

  /** Keys of the requests that it refused for good. */
  async refused(): Promise<ReadonlySet<string>> {
    return new Set((await this.#refusals()).keys);
  }

  /** Number of wrong answers so far. */
  async wrongAnswers(): Promise<number> {
    return (await this.#refusals()).wrong;
  }

  /** Number of requests refused with 429 by {@link Faults.throttled} so far. */
  async throttles(): Promise<number> {
    return (await this.#refusals()).throttles;
  }

  async #refusals(): Promise<Refusals> {
    return (await (await fetch(`${this.url}/refused`)).json()) as Refusals;
  }

  async set(faults: Partial<Faults>): Promise<void> {
    await fetch(`${this.url}/faults`, { method: 'PUT', body: JSON.stringify(faults) });
  }

  /** Resolves once the server is away, or back. */
  async fail(outage: Outage): Promise<void> {
    const done = once(this.child, 'message');
    this.child.send({ outage });
    await done;
  }

  /** Called with the key of a request that was taken in and is not going to be answered. */
  onHeld(hear: (key: string) => void): void {
    this.#onHeld = hear;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
