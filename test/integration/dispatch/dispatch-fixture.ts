import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { DynamicModule } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import {
  type Clock,
  MESSAGING_CLOCK,
  MessagingModule,
  MessagingService,
  SmsService,
} from '@dundun/messaging';
import {
  DISPATCH_ENGINE,
  type DispatchEngine,
  type MessageTransport,
  type Submission,
  type SubmissionAccepted,
  type TransportCapabilities,
} from '@dundun/messaging/ports';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { TestDatabase } from '../../support/databases.js';
import { type FlatOptions, grouped } from '../../support/flat-options.js';
import { Relay } from '../../support/relay.js';

const TABLES = [
  'report',
  'message',
  'submission',
  'batch_chunk',
  'batch',
  'lane',
  'provider_pause',
];

/** A scripted provider that records every request in the order of its start. */
export class ScriptedTransport implements MessageTransport {
  readonly name = 'scripted';
  readonly started: Submission[] = [];
  readonly accepted: Submission[] = [];
  /** Throws the failure of a submission, or waits; by default everything is accepted at once. */
  script: (submission: Submission, signal: AbortSignal) => Promise<void> | void = () => undefined;

  constructor(
    readonly capabilities: TransportCapabilities = {
      maxRecipients: 100,
      idempotencyWindow: 3_600_000,
    },
  ) {}

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    this.started.push(submission);
    await this.script(submission, signal);
    this.accepted.push(submission);
    return { reference: `ref-${submission.id}` };
  }

  /** The texts that were accepted, in order. */
  get texts(): string[] {
    return this.accepted.map(textOf);
  }
}

export function textOf({ content }: Submission): string {
  return content.kind === 'text' ? content.text : '';
}

export interface DispatchApp {
  readonly app: TestingModule;
  readonly sms: SmsService;
  readonly messaging: MessagingService;
  readonly store: MessageStore;
  readonly transport: ScriptedTransport;
  /** Sends one text to one number. */
  send(text: string, options?: Parameters<SmsService['send']>[1]): Promise<string>;
}

/** Boots apps on one database and closes them after the test. */
export class DispatchFixture {
  readonly #apps: TestingModule[] = [];

  constructor(private readonly database: TestDatabase) {}

  async boot(
    options: FlatOptions = {},
    transport = new ScriptedTransport(),
    engine?: DispatchEngine,
    imports: readonly DynamicModule[] = [],
    clock?: Clock,
  ): Promise<DispatchApp> {
    const building = Test.createTestingModule({
      imports: [
        ...imports,
        TypeOrmModule.forRoot({ ...this.database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          ...grouped({
            ...(!options.providers && { transport: () => transport }),
            backoff: 5,
            whatsapp: { templates: 'open' },
            ...options,
          }),
          callbackPath: false,
        }),
      ],
    });
    if (engine) building.overrideProvider(DISPATCH_ENGINE).useValue(engine);
    if (clock) building.overrideProvider(MESSAGING_CLOCK).useValue(clock);
    const app = await building.compile();
    app.useLogger(false);
    await app.init();
    this.#apps.push(app);
    const sms = app.get(SmsService);
    return {
      app,
      sms,
      transport,
      messaging: app.get(MessagingService),
      store: app.get(MessageStore, { strict: false }),
      send: async (text, sendOptions = {}) =>
        (await sms.send({ from: 'ACME', to: '2348012345678', body: text }, sendOptions)).id,
    };
  }

  /** Closes every app and empties the store. */
  async clear(): Promise<void> {
    await Promise.all(this.#apps.splice(0).map((app) => app.close()));
    const source = await this.database.open();
    for (const table of TABLES) await source.query(`DELETE FROM messaging_${table}`);
    await source.destroy();
  }
}

/** A database behind a relay that can lose a commit or the answer to it. */
export class RelayedDatabase {
  private constructor(
    readonly relay: Relay,
    readonly database: TestDatabase,
  ) {}

  static async start(database: TestDatabase): Promise<RelayedDatabase> {
    const relay = await Relay.start(database.url);
    const options: TestDatabase['options'] = (extras) =>
      ({ ...database.options(extras), url: relay.url }) as DataSourceOptions;
    return new RelayedDatabase(relay, { ...database, options });
  }

  /** The next commit of a transaction with this statement takes place, and its connection breaks. */
  loseCommit(statement: string): void {
    this.relay.loseAnswer(...this.#commitOf(statement));
  }

  /** The connection of the next transaction with this statement breaks before its commit. */
  loseTransaction(statement: string): void {
    this.relay.loseRequest(...this.#commitOf(statement));
  }

  #commitOf(statement: string): readonly string[] {
    // On PostgreSQL the statement is its own transaction.
    return this.database.kind === 'postgres' ? [statement] : [statement, 'COMMIT'];
  }
}

/** Registers a relay and a fixture behind it for the tests of a block; both are set in `beforeAll`. */
export function relayedFixture(database: TestDatabase) {
  const used = {} as { relayed: RelayedDatabase; fixture: DispatchFixture };
  beforeAll(async () => {
    used.relayed = await RelayedDatabase.start(database);
    used.fixture = new DispatchFixture(used.relayed.database);
  });
  afterEach(() => used.fixture.clear());
  afterAll(() => used.relayed.relay.stop());
  return used as Readonly<typeof used>;
}

/** The system's clock, and `ahead` milliseconds more: time passes when the test says so. */
export class ForwardClock implements Clock {
  ahead = 0;

  now(): number {
    return systemClock.now() + this.ahead;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.ahead;
  }

  id(): string {
    return systemClock.id();
  }
}

/** A promise with its resolvers. */
export class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}
