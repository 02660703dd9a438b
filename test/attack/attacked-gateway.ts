import { readdir } from 'node:fs/promises';
import { buildGateway, type ProbedGateway, Processes } from '../e2e/gateway/built-gateway.js';

/**
 * Bound of a health check during an attack, in milliseconds: a tenth of it on a machine that does
 * nothing else, and unprotected the check took ten seconds.
 */
export const MOST_MS = 5_000;

/** A gateway in a process of its own, as in production, with one account. */
export class AttackedGateway {
  token = '';
  #gateway: ProbedGateway | undefined;
  readonly #processes = new Processes();

  async start(settings: Record<string, string> = {}): Promise<void> {
    await buildGateway();
    const create = ['account', 'create', '--name', 'acme', '--json'];
    const made = JSON.parse((await this.#processes.dundun(create)).stdout) as {
      account_id: string;
      api_token: string;
    };
    this.token = made.api_token;
    const sender = ['sender', 'add', '--account', made.account_id, '--sender', 'ACME', '--json'];
    await this.#processes.dundun(sender);
    this.#gateway = await this.#processes.probedGateway(settings);
  }

  destroy(): Promise<void> {
    return this.#processes.destroy();
  }

  get running(): ProbedGateway {
    if (!this.#gateway) throw new Error('the gateway is not running');
    return this.#gateway;
  }

  get url(): string {
    return this.running.url;
  }

  /** A request on a connection of its own. */
  call(method: string, path: string, body?: string, token = this.token): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        connection: 'close',
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    });
  }

  /** The id of a stored batch that is not sent. */
  async batch(recipients: number): Promise<string> {
    const to = Array.from({ length: recipients }, (_, index) => String(2_348_000_000_000 + index));
    const body = { from: 'ACME', to, body: 'Hello', send_at: '2150-01-01T00:00:00Z' };
    const sent = await this.call('POST', '/ng/v1/sendsms', JSON.stringify(body));
    return String(((await sent.json()) as { reference_id: string }).reference_id);
  }

  /** Open file descriptors of the process. */
  async descriptors(): Promise<number> {
    return (await readdir(`/proc/${this.running.pid}/fd`)).length;
  }

  /** The slowest of some health checks in a row, in milliseconds. */
  async slowestHealthCheck(count = 10): Promise<number> {
    let slowest = 0;
    for (let n = 0; n < count; n++) {
      const begun = performance.now();
      const { status } = await this.call('GET', '/health/live');
      if (status !== 200) throw new Error(`the health check answered ${status}`);
      slowest = Math.max(slowest, performance.now() - begun);
    }
    return slowest;
  }
}
