import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { AccountsService, type CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { carriersOf, type GatewayChannel } from '../../../src/channel.js';
import { CHANNELS } from '../../../src/channels/index.js';
import { readEnvironment } from '../../../src/config/environment.js';
import { type Gateway, startGateway } from '../../../src/gateway.js';
import { PinoLogger } from '../../../src/http/pino.logger.js';
import { SendersService } from '../../../src/senders/senders.service.js';
import { type Answered, type Call, ContractClient } from './contract-client.js';
import { Prism } from './prism.js';
import type { ResponseContract } from './response-contract.js';

export type { Answered, Call };

/** A private gateway on a temporary SQLite file (default), a free port, with its log. */
export class TestGateway {
  readonly log: string[] = [];
  #gateway: Gateway | undefined;
  #directory: string | undefined;
  #known: Promise<ContractClient> | undefined;
  #prism: Prism | undefined;
  databaseUrl = '';

  constructor(
    private readonly settings: Readonly<Record<string, string>> = {},
    private readonly channels: readonly GatewayChannel[] = CHANNELS,
  ) {}

  async start(): Promise<this> {
    if (this.databaseUrl === '')
      this.databaseUrl = this.settings['DATABASE_URL'] ?? (await this.#file());
    const { channels } = this;
    const environment = readEnvironment(
      {
        NODE_ENV: 'test',
        PORT: '0',
        LOG_LEVEL: 'debug',
        RATE_LIMIT: '1000/s',
        WHATSAPP_WAIT: '60s',
        ...this.settings,
        DATABASE_URL: this.databaseUrl,
      },
      carriersOf(channels),
    );
    const logger = new PinoLogger(environment.LOG_LEVEL, this.#sink());
    this.#gateway = await startGateway(environment, logger, { channels });
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

  get senders(): SendersService {
    return this.running.app.get(SendersService, { strict: false });
  }

  /** An account with the sender ACME. */
  async account(name = 'acme'): Promise<CreatedAccount> {
    const created = await this.accounts.create(name);
    const { accountId } = created;
    await this.senders.add({ accountId, channel: 'sms', sender: 'ACME' });
    return created;
  }

  /** Every answer is held to its own OpenAPI document; with `PRISM` set, by Prism's proxy as well. */
  async call(method: string, path: string, call: Call = {}): Promise<Answered> {
    return (await this.#client()).call(method, path, call);
  }

  async contract(): Promise<ResponseContract> {
    return (await this.#client()).contract();
  }

  /** Sockets it holds now. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.running.app
        .getHttpServer()
        .getConnections((error: Error | null, count: number) =>
          error ? reject(error) : resolve(count),
        );
    });
  }

  /** Stops it; the database stays. */
  async stop(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    this.#known = undefined;
    await this.#prism?.stop();
    this.#prism = undefined;
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

  #client(): Promise<ContractClient> {
    return (this.#known ??= this.#behind());
  }

  async #behind(): Promise<ContractClient> {
    if (process.env['PRISM'] === undefined) return new ContractClient(this.url);
    this.#prism = await Prism.before(this.url, { errors: false });
    return new ContractClient(this.#prism.url, this.url, this.url);
  }

  #sink(): pino.DestinationStream {
    return { write: (line) => void this.log.push(line) };
  }
}
