import { type Dispatcher, Pool } from 'undici';
import type { Count } from './rounds.js';

export interface LoadRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A closed loop: `connections` requests are always in flight, through undici's dispatcher API. */
export class HttpLoad {
  readonly #pool: Pool;

  constructor(
    origin: string,
    private readonly connections: number,
    private readonly request: LoadRequest,
  ) {
    this.#pool = new Pool(origin, { connections, pipelining: 1, bodyTimeout: 60_000 });
  }

  /** Sends for `ms` milliseconds and counts 2xx answers; any other answer is an error. */
  async run(ms: number, bodyOf: (n: number) => string): Promise<Count> {
    const begun = performance.now();
    let n = 0;
    let count = 0;
    const one = async (): Promise<void> => {
      while (performance.now() - begun < ms) {
        await this.post(bodyOf(n++));
        count++;
      }
    };
    await Promise.all(Array.from({ length: this.connections }, one));
    return { count, ms: performance.now() - begun };
  }

  post(body: string | Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const { path, headers } = this.request;
      this.#pool.dispatch({ path, method: 'POST', headers, body }, new Answer(resolve, reject));
    });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

class Answer implements Dispatcher.DispatchHandler {
  #status = 0;
  #body = '';

  constructor(
    private readonly resolve: () => void,
    private readonly reject: (error: Error) => void,
  ) {}

  get #accepted(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  // Without this method undici treats the handler as a legacy one.
  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (!this.#accepted) this.#body += chunk.toString('utf8');
  }

  onResponseEnd(): void {
    if (this.#accepted) this.resolve();
    else this.reject(new Error(`answered ${this.#status}: ${this.#body.slice(0, 300)}`));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.reject(error);
  }
}
