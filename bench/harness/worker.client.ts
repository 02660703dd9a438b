import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** One side of a measurement in its own process; the parent calls its commands by name. */
export class Worker {
  readonly #waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  #next = 0;
  #ended = false;

  private constructor(
    private readonly child: ChildProcess,
    private readonly name: string,
  ) {
    child.on('message', (answer: Answer) => this.#settle(answer));
    child.on('exit', (code, signal) => {
      this.#ended = true;
      for (const waiting of this.#waiting.values())
        waiting.reject(new Error(`${name} ended (${signal ?? code})`));
      this.#waiting.clear();
    });
  }

  /** Starts `module` (a URL) and calls its `start` with `options`. */
  static async start(module: URL, options: unknown = {}): Promise<Worker> {
    const name = module.pathname.split('/').at(-1) as string;
    const profile = process.env['BENCH_PROFILE'];
    const worker = new Worker(
      fork(module, {
        serialization: 'advanced',
        execArgv: profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [],
      }),
      name,
    );
    await worker.call('start', options);
    return worker;
  }

  get pid(): number {
    return this.child.pid as number;
  }

  call<T>(command: string, argument?: unknown): Promise<T> {
    if (this.#ended) return Promise.reject(new Error(`${this.name} has ended`));
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.child.send({ id, command, argument });
    });
  }

  async stop(): Promise<void> {
    if (this.#ended) return;
    const exit = once(this.child, 'exit');
    this.child.send({ id: -1, command: 'stop' });
    await exit;
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    if (this.#ended) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  #settle({ id, value, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(`${this.name}: ${error}`));
  }
}
