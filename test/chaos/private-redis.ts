import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-port.js';

/** A program of Redis or Valkey. */
const SERVER = process.env['TEST_REDIS_SERVER'] ?? 'redis-server';

/** A Redis of one suite alone, to stop, freeze and starve. */
export class PrivateRedis {
  #child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  /** Why there can be none here; `undefined`: there can. */
  static get missing(): string | undefined {
    return spawnSync(SERVER, ['--version']).status === 0 ? undefined : `no ${SERVER}`;
  }

  /** @param settings such as `--maxmemory`, `10mb` */
  static async start(...settings: string[]): Promise<PrivateRedis> {
    const redis = new PrivateRedis(await freePort(), settings);
    await redis.restart();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Empty, as nothing is written down. */
  async restart(): Promise<void> {
    await this.kill();
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'];
    this.#child = spawn(SERVER, [...own, ...this.settings], { stdio: 'ignore' });
    const client = new Redis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    client.on('error', () => undefined);
    await client.ping();
    client.disconnect();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Keeps its connections and answers nothing. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  async call(command: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(this.url);
    try {
      return await client.call(command, ...args);
    } finally {
      client.disconnect();
    }
  }
}
