import { afterEach, expect, it, jest } from '@jest/globals';
import { Injectable, Logger, Module, type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  http,
  MessagingModule,
  type MessagingOptions,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { MESSAGE_TRANSPORTS } from '@dundun/messaging/ports';
import { describeEachDatabase } from '../../support/databases.js';

const simulated: MessagingOptions = { transport: simulator() };
const HOOKS = [
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
];
const FAX = { fax: { max: 1, per: '1h' } };

/** A transport with these capabilities that submits nothing. */
function transportWith(capabilities: object) {
  return () => ({ name: 'test', capabilities, submit: () => undefined }) as never;
}

@Injectable()
class OptionsFactory {
  createMessagingOptions(): MessagingOptions {
    return simulated;
  }
}

@Module({ providers: [OptionsFactory], exports: [OptionsFactory] })
class OptionsModule {}

describeEachDatabase(
  'booting',
  (database) => {
    let app: TestingModule | undefined;

    const boot = async (
      messaging: NonNullable<ModuleMetadata['imports']>[number],
      name?: string,
    ) => {
      app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), ...(name !== undefined && { name }) }),
          messaging,
        ],
      }).compile();
      return app.init();
    };
    const bootWith = async (credentials: { apiToken: string; apiKey?: string }) => {
      const transport = http({ baseUrl: 'http://127.0.0.1:9', ...credentials });
      return boot(MessagingModule.forRoot({ transport, callbacks: { insecure: true } }));
    };
    const logged = () => jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    const summariesOf = ({ mock }: ReturnType<typeof logged>) =>
      mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('Providers'));

    it('one log line names the providers, the database, the engine and the dispatch', async () => {
      const log = logged();
      await boot(
        MessagingModule.forRoot({
          providers: {
            main: {
              transport: http({ baseUrl: 'http://127.0.0.1:9', apiToken: 'hunter2' }),
            },
            simulator: { transport: simulator() },
          },
          routes: [{ use: 'main' }],
          callbackPath: false,
        }),
      );
      const type = database.options().type;
      expect(summariesOf(log)).toEqual([
        `Providers: main (http), simulator; database: ${type}; engine: database; dispatch: on`,
      ]);
    });

    it('the log line says that a process only accepts', async () => {
      const log = logged();
      await boot(
        MessagingModule.forRoot({
          ...simulated,
          callbackPath: false,
          dispatch: { enabled: false },
        }),
      );
      expect(summariesOf(log)).toEqual([
        expect.stringMatching(/dispatch: off: this process only accepts$/),
      ]);
    });

    const send = () =>
      app!
        .get(SmsService, { strict: false })
        .send({ from: 'ACME', to: '2348012345678', body: 'Hi' });

    afterEach(async () => {
      jest.restoreAllMocks();
      await app?.close();
      app = undefined;
    });

    it.each([
      ['nothing', undefined],
      ['an empty one', ''],
      ['a leading space', ' tok_abc'],
      ['a trailing newline', 'tok_abc\n'],
      ['the word Bearer', 'Bearer tok_abc'],
    ])('an API token with %s fails the boot without being shown', async (_, apiToken) => {
      const failure = await bootWith({ apiToken: apiToken as string }).catch(
        (error: Error) => error,
      );
      expect(failure).toMatchObject({ name: 'MessagingConfigError' });
      expect((failure as Error).message).toMatch(/^http\.apiToken: /);
      expect((failure as Error).message).not.toContain('tok_abc');
    });

    it('an API key without svk_ fails the boot', async () => {
      await expect(bootWith({ apiToken: 'tok_abc', apiKey: 'key_abc' })).rejects.toThrow('svk_');
    });

    it('a missing transport, an unsigned callback path or a wrong option fails the boot', async () => {
      await expect(boot(MessagingModule.forRoot({ callbackPath: false }))).rejects.toThrow(
        'transport',
      );
      const transport = http({ baseUrl: 'http://127.0.0.1:9', apiToken: 'tok_abc' });
      const both = { main: transport, trial: simulator() };
      for (const carried of [{ transport }, { providers: both, routes: [{ use: 'main' }] }])
        await expect(boot(MessagingModule.forRoot(carried))).rejects.toThrow('callbacks.secrets');
      await expect(
        boot(
          MessagingModule.forRoot({
            ...simulated,
            callbackPath: false,
            dispatch: { lease: 'soon' as never },
          }),
        ),
      ).rejects.toThrow('dispatch.lease');
      await expect(
        boot(
          MessagingModule.forRoot({
            ...simulated,
            callbackPath: false,
            dispatch: { rateLimit: { max: 0, per: '1s' } },
          }),
        ),
      ).rejects.toThrow('dispatch.rateLimit.max');
    });

    it.each<[string, object, RegExp]>([
      ['an unknown option', { dispach: {} }, /^dispach: .*did you mean dispatch\?/],
      ['a string for a number', { dispatch: { concurrency: '4' } }, /^dispatch\.concurrency: /],
      ['a string for a flag', { dispatch: { enabled: 'false' } }, /^dispatch\.enabled: /],
      ['a string for a group', { dispatch: 'false' }, /^dispatch: /],
      ['thirty milliseconds of retention', { store: { retention: { content: 30 } } }, /'30d'/],
      [
        'batches that are deleted before their last report',
        { store: { retention: { messages: '71h' } } },
        /^store\.retention\.messages: .*reports\.giveUpAfter.*'259200000ms'/,
      ],
      [
        'batches that are deleted before their key',
        { store: { idempotencyWindow: '100h', retention: { messages: '99h' } } },
        /^store\.retention\.messages: .*store\.idempotencyWindow.*'360000000ms'/,
      ],
      [
        'a content that is kept longer than its batch',
        { store: { retention: { content: '90d', messages: '30d' } } },
        /^store\.retention\.content: /,
      ],
      ['an option of the transport', { baseUrl: 'http://127.0.0.1:9' }, /^baseUrl: /],
      [
        'a transport without connections',
        { transport: transportWith({ maxRecipients: 1, idempotencyWindow: 0, connections: 0 }) },
        /^transport\.capabilities\.connections: /,
      ],
      ['an early end of polls', { reports: { giveUpAfter: '1s' } }, /^reports\.giveUpAfter: /],
      ['a cap of no category', { policy: { frequencyCap: FAX } }, /^policy\.frequencyCap\.fax: /],
    ])('%s fails the boot by name', async (_, options, message) => {
      const module = { ...simulated, callbackPath: false as const, ...options };
      await expect(boot(MessagingModule.forRoot(module))).rejects.toThrow(message);
    });

    it('forRootAsync accepts useFactory, useClass and useExisting', async () => {
      const callbackPath = false as const;
      for (const source of [
        { useFactory: () => simulated },
        { useClass: OptionsFactory },
        { imports: [OptionsModule], useExisting: OptionsFactory },
      ]) {
        await boot(MessagingModule.forRootAsync({ ...source, callbackPath }));
        await expect(send()).resolves.toMatchObject({ recipients: 1, replayed: false });
        await app!.close();
      }
    });

    it('a transport is made by Nest with its dependencies, from a class or a factory', async () => {
      @Injectable()
      class Bank {
        readonly name = 'bank';
      }
      @Module({ providers: [Bank], exports: [Bank] })
      class BankModule {}
      const bare = transportWith({ maxRecipients: 1, idempotencyWindow: 0 })() as object;
      @Injectable()
      class BankTransport {
        readonly name: string;
        constructor(bank: Bank) {
          Object.assign(this, bare);
          this.name = bank.name;
        }
      }
      const sources = [
        { useClass: BankTransport as never },
        {
          useFactory: async (bank: Bank) => ({ ...bare, name: bank.name }) as never,
          inject: [Bank],
        },
      ];
      for (const transport of sources)
        for (const options of [{ transport }, { providers: { bank: transport } }]) {
          await boot(
            MessagingModule.forRootAsync({
              imports: [BankModule],
              useFactory: () => options,
              callbackPath: false,
            }),
          );
          const [made] = app!.get(MESSAGE_TRANSPORTS, { strict: false }).values();
          expect(made).toMatchObject({ name: 'bank' });
          await app!.close();
        }
    });

    it.each<[string, object, RegExp]>([
      ['a class without useClass', { useClas: class {} }, /^transport: must be .* useClass/],
      ['a class and a factory', { useClass: class {}, useFactory: () => 1 }, /^transport: must be/],
      [
        'a class of something else',
        { useClass: class {} },
        /^transport: makes no MessageTransport/,
      ],
      ['a factory of nothing', { useFactory: () => undefined }, /^transport: makes no Mess/],
    ])('%s is refused as a transport', async (_, transport, message) => {
      const options = { transport: transport as never, callbackPath: false as const };
      await expect(boot(MessagingModule.forRoot(options))).rejects.toThrow(message);
    });

    it('every transport has its lifecycle hooks called', async () => {
      const called: string[] = [];
      const hooked = (name: string) => () => {
        const hooks = HOOKS.map((hook) => [hook, () => void called.push(`${name} ${hook}`)]);
        return {
          ...(transportWith({ maxRecipients: 1, idempotencyWindow: 0 })() as object),
          ...Object.fromEntries(hooks),
        } as never;
      };
      const providers = { main: hooked('main'), backup: hooked('backup') };
      await boot(
        MessagingModule.forRoot({ providers, routes: [{ use: 'main' }], callbackPath: false }),
      );
      const expected = HOOKS.flatMap((hook) => [`main ${hook}`, `backup ${hook}`]);
      expect(called).toEqual(expected.slice(0, 4));
      await app!.close();
      expect(called).toEqual(expected);
    });

    it('a named data source and a global module work', async () => {
      @Injectable()
      class Shop {
        constructor(readonly sms: SmsService) {}
      }
      @Module({ providers: [Shop] })
      class ShopModule {}
      app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), name: 'orders' }),
          MessagingModule.forRoot({
            ...simulated,
            isGlobal: true,
            dataSource: 'orders',
            callbackPath: false,
          }),
          ShopModule,
        ],
      }).compile();
      await app.init();
      expect(app.get(Shop, { strict: false }).sms).toBe(app.get(SmsService, { strict: false }));
      await expect(send()).resolves.toMatchObject({ recipients: 1 });
    });
  },
  ['sqlite'],
);
