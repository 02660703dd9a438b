import { readdir, readFile } from 'node:fs/promises';
import type { DatabaseKind, TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { type ProbedGateway, Processes } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { whileProbed } from './probes.js';

/** `ATTACK=full`: one suite at a time, at its full size on every database. */
const IS_FULL = process.env['ATTACK'] === 'full';

/**
 * Bound of a health check during an attack, in milliseconds. In `npm test` other suites share the
 * machine, so that only an answer is required.
 */
const MOST_MS = IS_FULL ? 1_000 : Infinity;

/** Least number of health checks. */
const LEAST_CHECKS = IS_FULL ? 50 : 10;

/**
 * Milliseconds after an attack within which its memory is free again, and bytes that may stay. Beside other
 * suites a process that waits for the processor is idle later.
 */
const FREE_WITHIN = IS_FULL ? 10_000 : 40_000;
const MOST_KEPT = 64 * 1_048_576;

/** For attacks that end before the database is asked. */
export const FRONT_DATABASES: readonly DatabaseKind[] = IS_FULL
  ? ['sqlite', 'postgres', 'mariadb']
  : ['sqlite'];

/** Most connections to a database server, which come and go. */
export function pooledOn({ kind }: TestDatabase): number {
  return kind === 'sqlite' ? 0 : 20;
}

/** A gateway in a process of its own, as in production, with one account. */
export class AttackedGateway {
  token = '';
  /** Key of the account for emails. */
  key = '';
  accountId = '';
  #settings: Record<string, string> = {};
  #gateway: ProbedGateway | undefined;
  readonly #processes = new Processes();

  /** Bytes of memory of the idle process. */
  #idle = 0;

  async start(db: TestDatabase, more: Record<string, string> = {}): Promise<void> {
    const settings = { DATABASE_URL: db.url, ...more };
    await buildGateway();
    const create = ['account', 'create', '--name', 'acme', '--json'];
    const made = JSON.parse((await this.#processes.dundun(create, settings)).stdout) as {
      account_id: string;
      api_token: string;
      api_key: string;
    };
    this.token = made.api_token;
    this.key = made.api_key;
    this.accountId = made.account_id;
    this.#settings = settings;
    const sender = ['sender', 'add', '--account', made.account_id, '--sender', 'ACME', '--json'];
    await this.#processes.dundun(sender, settings);
    this.#gateway = await this.#processes.probedGateway(settings);
    // Small requests alone: the first ones load and compile code.
    for (let n = 0; n < 10; n++) {
      await (await this.call('POST', '/ng/v1/sendsms', '{}')).text();
      await (await this.call('GET', '/ng/v1/sms')).text();
    }
    await this.running.rest();
    this.#idle = await this.#resident();
  }

  /** What a command of the operator prints, with `--json`. */
  async dundun(...words: string[]): Promise<Record<string, string>> {
    const { stdout } = await this.#processes.dundun([...words, '--json'], this.#settings);
    return JSON.parse(stdout) as Record<string, string>;
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

  /** Open file descriptors of the process, its connections to a database server included. */
  async descriptors(): Promise<number> {
    return (await readdir(`/proc/${this.running.pid}/fd`)).length;
  }

  /**
   * Runs an attack while a process of its own makes health checks.
   * @throws where one of them fails or takes too long
   */
  async whileHealthy<T>(attack: () => Promise<T>): Promise<T> {
    const health = { name: 'health', url: `${this.url}/health/live` };
    const { result, times } = await whileProbed([health], LEAST_CHECKS, attack);
    const slowest = times['health']?.at(-1) ?? Infinity;
    if (IS_FULL) process.stdout.write(`slowest health check: ${Math.round(slowest)} ms\n`);
    if (slowest > MOST_MS) throw new Error(`a health check took ${slowest} ms, not ${MOST_MS}`);
    return result;
  }

  /** Waits until the process has little more memory than when idle. @throws after ten seconds */
  async freed(): Promise<void> {
    await eventually(async () => {
      const kept = (await this.#resident()) - this.#idle;
      if (kept > MOST_KEPT) throw new Error(`${kept} bytes are not free, not ${MOST_KEPT}`);
      if (IS_FULL) process.stdout.write(`memory kept: ${Math.round(kept / 1_048_576)} MiB\n`);
    }, FREE_WITHIN);
  }

  /** Bytes of memory that the system has given to the process. */
  async #resident(): Promise<number> {
    const status = await readFile(`/proc/${this.running.pid}/status`, 'latin1');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
  }
}
