import * as dashboard from '@dundun/dashboard';
import * as messaging from '@dundun/messaging';
import * as operations from '@dundun/messaging/operations';
import * as ports from '@dundun/messaging/ports';
import {
  messagingMatchers,
  MessagingTester,
  MessagingTestingModule,
} from '@dundun/messaging/testing';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import * as common from '@nestjs/common';
import * as core from '@nestjs/core';
import * as events from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { DataSource } from 'typeorm';
import ts from 'typescript';
import { SqliteDriver } from '../../src/config/sqlite-driver.js';
import { buildPages } from '../support/builds.js';
import { eventually } from '../support/eventually.js';
import { errorsIn } from './block-program.js';
import { runBlock } from './block-runner.js';
import { type Block, blocks } from './markdown-blocks.js';
import { SmppPeers } from './smpp-peers.js';

const HOUR = 3_600_000;
const OUR_NUMBER = '2348000000001';
const TEMPLATES = messaging.defineTemplates({
  order_update: { language: 'en', category: 'utility', params: ['name', 'order'] },
  sale: { language: 'en', category: 'marketing', params: 1 },
});

/** Services by their names in blocks. */
function servicesOf(app: common.INestApplicationContext) {
  const of = <T>(type: abstract new (...given: never[]) => T): T =>
    app.get(type, { strict: false });
  return {
    sms: of(messaging.SmsService),
    contacts: of(messaging.ContactsService),
    whatsApp: of(messaging.WhatsAppService),
    email: of(messaging.EmailService),
    voice: of(messaging.VoiceService),
    vas: of(messaging.VasService),
    holds: of(operations.HoldsService),
    operations: of(operations.MessagingOperations),
    notifications: of(messaging.NotificationService),
    notifier: of(messaging.Notifier),
    policy: of(messaging.PolicyService),
    verification: of(messaging.VerificationService),
    messaging: of(messaging.MessagingService),
  };
}

/** A message that failed as `blocked`, one that is unknown, and an open conversation. */
async function failedAndUnknown(app: common.INestApplicationContext) {
  const { sms, email, contacts } = servicesOf(app);
  const [transport] = app.get(ports.MESSAGE_TRANSPORTS, { strict: false }).values();
  const simulator = messaging.simulatorOf(transport);
  const to = '2348012349906';
  const { id } = await sms.send({ from: 'ACME', to, body: 'Hello' });
  await eventually(async () => expect((await sms.message(`${id}-0`)).status).toBe('sent'));
  const failed = { status: 'failed', rawStatus: 'blocked', errorCode: 'blocked' } as const;
  await simulator?.report(`${id}-s0`, to, failed);
  await eventually(async () => expect((await sms.message(`${id}-0`)).status).toBe('failed'));
  const lost = { from: 'shop@acme.test', to: 'lost@example.com', subject: 'x', text: 'x' };
  const unknownId = `${(await email.send(lost)).id}-0`;
  await eventually(async () => expect((await email.message(unknownId)).status).toBe('unknown'));
  await contacts.recordInbound('2348012345678', { sender: OUR_NUMBER });
  const news = { channel: 'email', category: 'marketing', source: 'web form' } as const;
  await contacts.optIn('ada@example.com', news);
  return { unknownId };
}

// Compiles every block of the docs.
jest.setTimeout(180_000);

const all = blocks();

describe('the TypeScript blocks of README and docs', () => {
  const compiled = all.filter(({ words }) => !words.includes('sketch') && !words.includes('file'));
  const code = 'const a = 1;\nsms.sent();\n';
  const wrong = { place: 'wrong.md:7', page: 'wrong.md', line: 7, words: [], code, isTsx: false };
  let errors: string[];
  beforeAll(() => {
    errors = errorsIn([...compiled, wrong]);
  });

  it('each TypeScript block of the docs compiles, unless it is marked as a sketch', () => {
    expect(compiled.length).toBeGreaterThan(20);
    expect(errors.filter((one) => !one.startsWith('wrong.md:'))).toEqual([]);
  });

  it('a compile error in a block is reported with its page and line', () => {
    expect(errors.filter((one) => one.startsWith('wrong.md:'))).toEqual([
      "wrong.md:8: Property 'sent' does not exist on type 'SmsService'.",
    ]);
  });
});

describe('a block that is no whole program', () => {
  let directory: string;
  let app: common.INestApplicationContext;
  let tested: TestingModule;
  let scope: Readonly<Record<string, unknown>>;
  let kit: Readonly<Record<string, unknown>>;
  const smpp = new SmppPeers();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-docs-'));
    app = await boot(
      messaging.MessagingModule.forRoot({
        transport: messaging.simulator({ reportDelay: 1 }),
        reports: { pollAfter: '1h' },
        voice: { from: OUR_NUMBER },
        whatsapp: { from: OUR_NUMBER, templates: TEMPLATES },
        rateCard: {
          currency: 'NGN',
          sms: '4.25',
          whatsapp: { utility: '6.7', marketing: '51.6', service: '0' },
        },
      }),
    );
    scope = {
      ...servicesOf(app),
      app,
      dataSource: app.get(DataSource),
      templates: TEMPLATES,
      ...(await failedAndUnknown(app)),
    };
    tested = await Test.createTestingModule({
      imports: [MessagingTestingModule.forRoot({ whatsapp: { from: OUR_NUMBER } })],
    }).compile();
    await tested.init();
    expect.extend(messagingMatchers);
    const optIn = { channel: 'whatsapp', source: 'web form' } as const;
    await tested.get(messaging.ContactsService).optIn('2348012345678', optIn);
    kit = { ...servicesOf(tested), messaging: tested.get(MessagingTester) };
  });
  afterAll(async () => {
    await smpp.close();
    await tested?.close();
    await app?.close();
    await rm(directory, { recursive: true });
  });

  let files = 0;
  const rootOf = (module: common.DynamicModule) => {
    const database = {
      type: 'better-sqlite3',
      database: join(directory, `${files++}.sqlite`),
      driver: SqliteDriver,
    } as TypeOrmModuleOptions;
    const imports = [TypeOrmModule.forRoot(database), module];
    return { module: class Root {}, imports };
  };
  const quiet = { logger: false, abortOnError: false } as const;
  const boot = (module: common.DynamicModule) =>
    core.NestFactory.createApplicationContext(rootOf(module), quiet);
  /** As an app with a server, which has the endpoints of callbacks. */
  const serve = async (module: common.DynamicModule) =>
    (await core.NestFactory.create(rootOf(module), { ...quiet, rawBody: true })).init();

  const run = all.filter(({ words }) =>
    ['run', 'sketch', 'compile', 'file'].every((word) => !words.includes(word)),
  );

  it('TypeScript blocks of the docs are run, here or by the suites of transactions, of Bull Board and of probes', () => {
    expect(run.length).toBeGreaterThan(60);
    const others = all.filter(({ words }) => words.includes('compile'));
    const pages = new Set(['docs/routes.md', 'docs/scaling.md', 'docs/transactions.md']);
    expect(new Set(others.map(({ page }) => page))).toEqual(pages);
    const files = all.filter(({ words }) => words.includes('file'));
    expect(files.filter(({ page }) => !page.startsWith('docs/guides/'))).toEqual([]);
  });

  it.each(run.map((block) => [block.place, block] as const))(
    '%s runs, and the modules that it makes boot',
    async (_, block) => {
      await expect(runAndBoot(block)).resolves.toBeUndefined();
      // A block drains every lane, and one opts the person out.
      await app.get(operations.MessagingOperations).resumeLane('*');
      const again = { channel: 'sms', source: 'next block' } as const;
      await app.get(messaging.ContactsService).optIn('2348012345678', again);
    },
  );

  async function runAndBoot(block: Block): Promise<void> {
    const { page } = block;
    const isTest = page === 'docs/testing.md';
    const sendAt = new Date(Date.now() + HOUR);
    const reminder = { from: 'ACME', to: '2348012345670', body: 'Rate us', sendAt };
    if (isTest) await tested.get(messaging.SmsService).send(reminder);
    const peers = page === 'libs/smpp/README.md' ? await smpp.scope() : {};
    const made = await runBlock(block, { ...(isTest ? kit : scope), ...peers });
    for (const module of made) await (await serve(module)).close();
  }
});

describe('a block that is a whole program', () => {
  let directory: string;
  const started: common.INestApplicationContext[] = [];

  beforeAll(() => buildPages());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-docs-'));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const app of started.splice(0)) await app.close();
    await rm(directory, { recursive: true });
  });

  /** The module that `require` gives a program; its SQLite file is in the folder of the test. */
  const required = (name: string): unknown => {
    switch (name) {
      case 'reflect-metadata':
        return {};
      case '@dundun/dashboard':
        return dashboard;
      case '@dundun/messaging':
        return messaging;
      case '@nestjs/common':
        return common;
      case '@nestjs/core':
        return { ...core, NestFactory: { createApplicationContext: start, create: startServer } };
      case '@nestjs/event-emitter':
        return events;
      case '@nestjs/typeorm':
        return { TypeOrmModule: { forRoot: openInFolder } };
      default:
        throw new Error(`a program of the docs imports ${name}`);
    }
  };
  const start = async (module: common.Type) => {
    const app = await core.NestFactory.createApplicationContext(module, { logger: ['error'] });
    started.push(app);
    return app;
  };
  /** An app that listens at any free port. */
  const startServer = async (module: common.Type) => {
    const app = await core.NestFactory.create(module, { logger: ['error'] });
    const listen = app.listen.bind(app);
    started.push(app);
    return Object.assign(app, { listen: () => listen(0, '127.0.0.1') });
  };
  const openInFolder = (options: { readonly database: string }) =>
    TypeOrmModule.forRoot({
      ...options,
      database: join(directory, options.database),
      driver: SqliteDriver,
    } as TypeOrmModuleOptions);

  /** Addresses that a program prints have a page. */
  async function checkAddresses(lines: readonly (string | undefined)[]): Promise<void> {
    for (const line of lines) {
      const printed = URL.canParse(line ?? '') ? new URL(line ?? '') : undefined;
      if (!printed) continue;
      const [app] = started as common.INestApplication[];
      const own = new URL(printed.pathname, await app?.getUrl());
      const answers = await Promise.all([fetch(own), fetch(`${own.href}/api/context`)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
  }

  const programs = all.filter(({ words }) => words.includes('run'));

  it('the docs have a block that is a whole program', () => expect(programs).not.toEqual([]));

  it.each(programs.map((block) => [block.place, block.code]))(
    'the program %s prints the output in its last lines',
    async (_, code) => {
      const lines: unknown[] = [];
      jest.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(line));
      const { outputText } = ts.transpileModule(code, {
        compilerOptions: {
          module: ts.ModuleKind.CommonJS,
          target: ts.ScriptTarget.ES2022,
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
        },
      });
      const run = new Script(
        `(async (require, exports) => {${outputText}\n})`,
      ).runInThisContext() as (require: unknown, exports: object) => Promise<void>;
      await run(required, {});
      const wanted = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => line);
      await eventually(async () => expect(lines).toEqual(wanted));
      await checkAddresses(wanted);
    },
  );
});
