import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { AccountsService, type CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { readEnvironment } from '../../../src/config/environment.js';
import { type Gateway, startGateway } from '../../../src/gateway.js';
import { PinoLogger } from '../../../src/http/pino.logger.js';
import { type Answered, ResponseContract } from './response-contract.js';

export type { Answered };

export interface Call {
  readonly token?: string;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A gateway of its own: a temporary SQLite file unless told, a free port, its log kept. */
export class TestGateway {
  readonly log: string[] = [];
  #gateway: Gateway | undefined;
  #directory: string | undefined;
  #contract: Promise<ResponseContract> | undefined;
  databaseUrl = '';

  constructor(private readonly settings: Readonly<Record<string, string>> = {}) {}

  async start(): Promise<this> {
    if (this.databaseUrl === '')
      this.databaseUrl = this.settings['DATABASE_URL'] ?? (await this.#file());
    const environment = readEnvironment({
      NODE_ENV: 'test',
      PORT: '0',
      LOG_LEVEL: 'debug',
      RATE_LIMIT: '1000/s',
      ...this.settings,
      DATABASE_URL: this.databaseUrl,
    });
    const logger = new PinoLogger(environment.LOG_LEVEL, this.#sink());
    this.#gateway = await startGateway(environment, logger);
    return this;
  }

  get running(): Gateway {
    if (!this.#gateway) throw new Error('the gateway is not running');
    return this.#gateway;
  }

  get url(): string {
    return this.running.url;
  }

  get accounts(): AccountsService {
    return this.running.app.get(AccountsService, { strict: false });
  }

  /** An account with the sender ACME. */
  async account(name = 'acme'): Promise<CreatedAccount> {
    const created = await this.accounts.create(name);
    await this.accounts.addSender(created.accountId, 'ACME');
    return created;
  }

  async call(method: string, path: string, call: Call = {}): Promise<Answered> {
    const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const answered = {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
    (await this.contract()).check(method, path, answered, text);
    return answered;
  }

  /** What its own OpenAPI document says: every answer of {@link call} is held to it. */
  async contract(): Promise<ResponseContract> {
    this.#contract ??= fetch(`${this.url}/openapi.json`).then(async (response) =>
      ResponseContract.of(await response.text()),
    );
    return this.#contract;
  }

  /** Stops it; the database stays. */
  async stop(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    await gateway?.stop();
  }

  async destroy(): Promise<void> {
    await this.stop();
    if (this.#directory) await rm(this.#directory, { recursive: true, force: true });
  }

  async #file(): Promise<string> {
    this.#directory = await mkdtemp(join(tmpdir(), 'dundun-gateway-'));
    return `sqlite:${join(this.#directory, 'gateway.sqlite')}`;
  }

  #sink(): pino.DestinationStream {
    return { write: (line) => void this.log.push(line) };
  }
}
