import {
  BATCH_COMPLETED,
  CallbacksService,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_ENTITIES,
  MESSAGING_STATUS_LISTENER,
  MessagingModule,
  type MessagingOptions,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { afterEach, expect, it, jest } from '@jest/globals';
import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  Logger,
  Optional,
  type Provider,
  SetMetadata,
} from '@nestjs/common';
import { APP_GUARD, NestFactory, Reflector } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions, In } from 'typeorm';
import { type DatabaseExtras, describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { ScriptedTransport } from '../dispatch/dispatch-fixture.js';

const TEXT = { from: 'ACME', to: '2348012345678', body: 'Hello' };

@Injectable()
class Heard {
  readonly events: string[] = [];

  constructor(@Optional() readonly emitter?: EventEmitter2) {}

  @OnEvent('messaging.**')
  onAny({ status = 'completed' }: { readonly status?: string }): void {
    this.events.push(status);
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ status }: { readonly status: string }): void {
    this.events.push(`by name: ${status}`);
  }

  @OnEvent(BATCH_COMPLETED)
  onCompleted(): void {
    this.events.push('by name: completed');
  }
}

@Injectable()
class FailingListener {
  async onStatusChanged(): Promise<void> {
    throw new Error('no outbox');
  }
}

@Injectable()
class ClosedGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    return this.reflector.get<boolean>('isPublic', context.getClass()) === true;
  }
}

describeOneDatabase('the module inside an app', (database) => {
  let app: INestApplication | undefined;
  const sources: DataSource[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    await app?.close();
    app = undefined;
    // Apps whose start was refused leave their data sources open.
    for (const source of sources.splice(0)) if (source.isInitialized) await source.destroy();
  });

  const typeOrm = (options: DataSourceOptions) =>
    TypeOrmModule.forRootAsync({
      useFactory: () => options,
      dataSourceFactory: async () => {
        const source = await new DataSource(options).initialize();
        sources.push(source);
        return source;
      },
    });

  const boot = async (
    options: Partial<MessagingOptions> & Parameters<typeof MessagingModule.forRoot>[0],
    { providers = [], imports = [], extras = {} }: Parts = {},
  ): Promise<INestApplication> => {
    const testing = await Test.createTestingModule({
      imports: [
        ...imports,
        TypeOrmModule.forRoot({ ...database.options(extras) }),
        MessagingModule.forRoot(options),
      ],
      providers: [...providers],
    }).compile();
    app = testing.createNestApplication(new FastifyAdapter(), { rawBody: true });
    app.useLogger(false);
    await app.listen(0, '127.0.0.1');
    return app;
  };
  const simulated = { transport: simulator(), callbackPath: false } as const;

  it.each([
    ['without rawBody', {}, 'whsec', 1],
    ['with rawBody', { rawBody: true }, 'whsec', 0],
    ['with parsers of its own', { bodyParser: false }, 'whsec', 0],
    ['without rawBody and without verification', {}, 'insecure', 0],
  ] as const)(
    'an app %s is warned at boot where signed callbacks need it',
    async (_, made, form, warnings) => {
      const callbacks =
        form === 'insecure' ? { insecure: true } : { secrets: [`whsec_${'c2VjcmV0'.repeat(4)}`] };
      const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
      const module = class App {};
      const imports = [
        TypeOrmModule.forRoot({ ...database.options() }),
        MessagingModule.forRoot({ transport: simulator(), callbacks }),
      ];
      for (const adapter of [new ExpressAdapter(), new FastifyAdapter()]) {
        warn.mockClear();
        app = await NestFactory.create({ module, imports }, adapter, { ...made, logger: false });
        await app.init();
        const lines = warn.mock.calls.map(([line]) => String(line));
        const named = lines.filter((line) =>
          line.includes('pass { rawBody: true } to NestFactory.create()'),
        );
        expect(named).toHaveLength(warnings);
        await app.close();
      }
    },
  );

  it('events go to the emitter of the app, with its wildcards, once each', async () => {
    const running = await boot(simulated, {
      imports: [EventEmitterModule.forRoot({ wildcard: true })],
      providers: [Heard],
    });
    const { events } = running.get(Heard);
    const names: unknown[] = [];
    running.get(Heard).emitter?.onAny((name: unknown) => void names.push(name));
    await running.get(SmsService).send(TEXT);
    await eventually(async () => expect(events).toContain('delivered'));
    await eventually(async () => expect(events).toContain('completed'));
    expect(events.toSorted()).toEqual(
      ['sent', 'delivered', 'completed'].flatMap((one) => [one, `by name: ${one}`]).toSorted(),
    );
    expect(names).toHaveLength(3);
  });

  it('events go to the emitter of the library where the app has none', async () => {
    const running = await boot(simulated, { providers: [Heard] });
    const { events } = running.get(Heard);
    await running.get(SmsService).send(TEXT);
    await eventually(async () => expect(events).toContain('by name: delivered'));
    expect(events.filter((one) => one === 'by name: delivered')).toHaveLength(1);
  });

  it('a cancel publishes one event for the batch and for each of its messages', async () => {
    const running = await boot(simulated, { providers: [Heard] });
    const sms = running.get(SmsService);
    const { id } = await sms.send({ ...TEXT, sendAt: new Date(Date.now() + 3_600_000) });
    await sms.cancel(id);
    await sms.cancel(id);
    const { events } = running.get(Heard);
    await eventually(async () => expect(events).toContain('by name: completed'));
    expect(events).toEqual(['by name: cancelled', 'by name: completed']);
  });

  it('the tables stay as they are in an app with synchronize', async () => {
    await boot(simulated);
    const source = await database.open({ entities: MESSAGING_ENTITIES });
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries).toEqual([]);
    await app!.close();
    await boot(simulated, { extras: { entities: MESSAGING_ENTITIES, synchronize: true } });
    expect(await app!.get(SmsService).send(TEXT)).toMatchObject({ recipients: 1 });
  });

  it('repositories of the app show statuses, states, outcomes and priorities as words', async () => {
    const running = await boot(simulated, { extras: { entities: MESSAGING_ENTITIES } });
    const sms = running.get(SmsService);
    const { id: batch } = await sms.send(TEXT, { class: 'high' });
    await eventually(async () =>
      expect((await sms.message(`${batch}-0`)).status).toBe('delivered'),
    );
    const rows = (table: string, where: object) =>
      running.get(DataSource).getRepository(`messaging_${table}`).findBy(where);
    const { id } = await sms.send({ ...TEXT, sendAt: new Date(Date.now() + 3_600_000) });
    const open = { state: 'accepted', priority: 'normal', deliveryReport: true, labelled: false };
    expect(await rows('batch', { id, ...open })).toMatchObject([open]);
    expect(await rows('batch', { id: batch })).toMatchObject([
      { state: 'completed', priority: 'high' },
    ]);
    const [message] = await rows('message', { batch, status: In(['delivered', 'read']) });
    expect(message).toMatchObject({ position: 0, status: 'delivered' });
    expect(await rows('submission', { batch })).toMatchObject([{ outcome: 'accepted' }]);
    const reports = await rows('report', { batch });
    expect(reports.map(({ status }) => status)).toEqual(['sent', 'delivered']);
  });

  it('a database without the tables is refused with the way to migrate it', async () => {
    const other = await database.another();
    const { type } = database.options();
    const elsewhere = {
      ...database.options(),
      ...(type === 'better-sqlite3' ? { database: other.slice('sqlite:'.length) } : { url: other }),
    } as DataSourceOptions;
    const start = (store: MessagingOptions['store']) =>
      Test.createTestingModule({
        imports: [typeOrm(elsewhere), MessagingModule.forRoot({ ...simulated, store })],
      }).compile();
    await expect(start({ migrate: false })).rejects.toThrow(
      /^store\.migrate: the table messaging_lane is missing .*MESSAGING_MIGRATIONS/,
    );
    await (await start({ migrate: true })).close();
    await expect(
      Test.createTestingModule({
        imports: [
          typeOrm(elsewhere),
          MessagingModule.forRoot({
            ...simulated,
            store: { migrate: false },
            policy: { frequencyCap: { sms: { max: 1, per: '1h' } } },
          }),
        ],
      }).compile(),
    ).rejects.toThrow(/^store\.migrate: .*messaging_message_recipient.*FREQUENCY_CAP_MIGRATIONS/);
    const migrated = await start({ migrate: false });
    await migrated.get(DataSource).query('ALTER TABLE messaging_batch DROP COLUMN parts');
    await migrated.close();
    await expect(start({ migrate: false })).rejects.toThrow(/the table messaging_batch is missing/);
  });

  it('an app that calls forRoot() twice does not boot; one module that several import is one', async () => {
    const start = (...modules: readonly DynamicModule[]) =>
      Test.createTestingModule({
        imports: [
          typeOrm(database.options()),
          ...modules.map((module) => ({ module: class Feature {}, imports: [module] })),
        ],
      }).compile();
    const module = MessagingModule.forRoot(simulated);
    await expect(start(module, MessagingModule.forRoot(simulated))).rejects.toThrow(
      /^MessagingModule: forRoot\(\) is called more than once .*isGlobal: true/,
    );
    await (await start(module, module)).close();
  });

  it('a failing status listener is logged with its name and stack, at limited intervals', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const running = await boot(
      { ...simulated, dispatch: { shutdownTimeout: '100ms' } },
      { providers: [{ provide: MESSAGING_STATUS_LISTENER, useClass: FailingListener }] },
    );
    await running.get(SmsService).send(TEXT);
    const logged = () =>
      error.mock.calls.filter(([line]) => String(line).startsWith('FailingListener failed'));
    await eventually(async () => expect(logged()).toHaveLength(1));
    expect(logged()[0]).toEqual([
      expect.stringContaining('no outbox'),
      expect.stringContaining('onStatusChanged'),
    ]);
  });

  it('the callback controller has the decorators of the app', async () => {
    const guard = { provide: APP_GUARD, useClass: ClosedGuard };
    const post = async (callbackDecorators: readonly ClassDecorator[]) => {
      const running = await boot(
        { transport: simulator(), callbacks: { insecure: true }, callbackDecorators },
        { providers: [guard] },
      );
      const { status } = await fetch(`${await running.getUrl()}/messaging/delivery-reports`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '[]',
      });
      await running.close();
      return status;
    };
    expect(await post([])).toBe(403);
    expect(await post([SetMetadata('isPublic', true)])).not.toBe(403);
  });

  it('an app with the simulator alone needs no callbacks, and its callback path is closed', async () => {
    const running = await boot({ transport: simulator() });
    const path = `${await running.getUrl()}/messaging/delivery-reports`;
    for (const url of [path, `${path}/simulator`, `${path}/simulator/secret`]) {
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(url, { method: 'POST', headers, body: '[]' })).status).toBe(404);
      expect((await fetch(url)).status).toBe(404);
    }
    const sms = running.get(SmsService);
    const { id } = await sms.send(TEXT);
    await eventually(async () => expect((await sms.message(`${id}-0`)).status).toBe('delivered'));
  });

  it('CallbacksService serves a controller of the app where the module has no path', async () => {
    const running = await boot({
      transport: simulator(),
      callbackPath: false,
      callbacks: { insecure: true },
    });
    const refused = running.get(CallbacksService).take({
      method: 'POST',
      url: '/own',
      pathSecret: undefined,
      headers: { 'content-type': 'application/json' },
      query: {},
      body: 'x',
      rawBody: Buffer.from('x'),
      ip: '127.0.0.1',
    });
    await expect(refused).rejects.toMatchObject({ status: 400 });
  });

  it('a number and a short code are senders where the provider takes them', async () => {
    const transport = new ScriptedTransport();
    const sms = (await boot({ transport: () => transport, callbackPath: false })).get(SmsService);
    for (const from of ['+234 801 234 5678', '32811', 'ACME 1']) await sms.send({ ...TEXT, from });
    const senders = () => transport.accepted.map(({ sender }) => sender);
    await eventually(async () =>
      expect(senders()).toEqual(expect.arrayContaining(['2348012345678', '32811', 'ACME 1'])),
    );
    for (const from of ['12', '', '+1', 'A-B'])
      await expect(sms.send({ ...TEXT, from })).rejects.toMatchObject({
        message: expect.stringMatching(/^from: .*short code/),
      });
  });

  it('a sender of a kind that the provider does not take is refused by name', async () => {
    const transport = new ScriptedTransport({
      senders: ['alphanumeric'],
      maxRecipients: 1,
      idempotencyWindow: 0,
    });
    const sms = (await boot({ transport: () => transport, callbackPath: false })).get(SmsService);
    await expect(sms.send({ ...TEXT, from: '32811' })).rejects.toMatchObject({
      message: expect.stringMatching(/^from: .*takes no other sender/),
    });
  });

  it('an error of a transport is logged with its stack at its first and tenth failure', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const transport = new ScriptedTransport();
    transport.script = () => {
      throw new TypeError('answer.id is undefined');
    };
    const running = await boot({
      transport: () => transport,
      callbackPath: false,
      dispatch: { backoff: 1 },
    });
    await running.get(SmsService).send(TEXT);
    const logged = () =>
      error.mock.calls.filter(([line]) => String(line).startsWith('scripted: submission'));
    await eventually(async () => expect(logged()).toHaveLength(2));
    expect(logged()[0]).toEqual([
      expect.stringMatching(/failure 1 in a row: transport_error: The transport threw TypeError; /),
      expect.stringMatching(/answer\.id is undefined[^]*submit/),
    ]);
    expect(logged()[1]![0]).toMatch(/failure 10 in a row/);
    expect(transport.started.length).toBeGreaterThanOrEqual(10);
    transport.script = () => undefined;
  });
});

interface Parts {
  readonly providers?: readonly Provider[];
  readonly imports?: readonly DynamicModule[];
  readonly extras?: DatabaseExtras;
}
