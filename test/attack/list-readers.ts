import { Agent, request } from 'node:http';

/** Clients that read the same lists of an account, each again as soon as it has the answer. */
export class ListReaders {
  /** Answers by status. */
  readonly statuses = new Map<number, number>();
  readonly #agent: Agent;

  constructor(
    private readonly url: string,
    private readonly paths: readonly string[],
    private readonly token: string,
    private readonly count: number,
    private readonly method: 'GET' | 'HEAD' = 'GET',
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: count });
  }

  /** Each client reads until `isOver()`. */
  async read(isOver: () => boolean): Promise<void> {
    const reader = async (n: number): Promise<void> => {
      do {
        const status = await this.#get(this.paths[n % this.paths.length] ?? '/');
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      } while (!isOver());
    };
    try {
      await Promise.all(Array.from({ length: this.count }, (_, n) => reader(n)));
    } finally {
      this.#agent.destroy();
    }
  }

  #get(path: string): Promise<number> {
    const headers = { authorization: `Bearer ${this.token}` };
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, headers, method: this.method };
      request(this.url + path, options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0));
      })
        .once('error', reject)
        .end();
    });
  }
}
