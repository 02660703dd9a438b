import { setImmediate as turn } from 'node:timers/promises';
import { SmsService } from '@dundun/messaging';
import { MessagingTester, MessagingTestingModule } from '@dundun/messaging/testing';
import { Test, type TestingModule } from '@nestjs/testing';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { quantile } from './harness/rounds.js';

/**
 * Measures what the testing kit costs a suite (T1: the boot of an app, T2: a send). Times are CPU of
 * the process, so that other work of the machine does not count.
 */
const asked = request({ ms: 0, rounds: 5 }, { ms: 0, rounds: 15 });
const book = new ResultBook('testing-kit', asked.form);
const DATABASE = 'memory';
const ALONE = 200;
const TOGETHER = 2_000;
const RECIPIENTS = 5_000;
let numbers = 0;

if (asked.wants('T1')) await measureBoot();
if (asked.wants('T2')) await measureSends();
await book.close();

async function measureBoot(): Promise<void> {
  const [first, ...later] = await rounds(asked.rounds + 1, async () => {
    const [app, took] = await timed(boot);
    await app.close();
    return took / 1_000;
  });
  const what = 'boot of an app with the kit, CPU';
  book.figure({
    id: 'T1',
    database: DATABASE,
    what: `first ${what}`,
    value: first ?? NaN,
    unit: ' ms',
  });
  book.figure({
    id: 'T1',
    database: DATABASE,
    what: `later ${what}`,
    value: quantile(later, 0.5),
    unit: ' ms',
    goal: ['<=', 1_000],
  });
}

async function measureSends(): Promise<void> {
  const app = await boot();
  const sms = app.get(SmsService);
  const messaging = app.get(MessagingTester);
  const send = (recipients = 1) =>
    sms.send({ from: 'ACME', to: Array.from({ length: recipients }, number), body: 'Hello' });
  const forms: [string, number, (n: number) => Promise<unknown>, goal?: number][] = [
    [
      'sends together, accepted',
      TOGETHER,
      (n) => Promise.all(Array.from({ length: n }, () => send())),
      50,
    ],
    [
      'recipients of one send, sent',
      RECIPIENTS,
      async (n) => (await send(n), messaging.idle()),
      50,
    ],
    [
      'one send after another, accepted and sent',
      ALONE,
      async (n) => {
        for (let i = 0; i < n; i++) await send();
        await messaging.idle();
      },
    ],
    [
      'send() and idle() by turns',
      ALONE,
      async (n) => {
        for (let i = 0; i < n; i++) {
          await send();
          await messaging.idle();
        }
      },
    ],
  ];
  for (const [what, count, work, goal] of forms) {
    const each = await rounds(asked.rounds, async () => {
      const [, took] = await timed(() => work(count));
      await messaging.idle();
      messaging.clear();
      return took / count;
    });
    const value = quantile(each, 0.5);
    const limit = goal === undefined ? {} : { goal: ['<=', goal] as const };
    book.figure({
      id: 'T2',
      database: DATABASE,
      what: `${what}, CPU each`,
      value,
      unit: ' µs',
      ...limit,
    });
  }
  await app.close();
}

async function boot(): Promise<TestingModule> {
  const app = await Test.createTestingModule({
    imports: [MessagingTestingModule.forRoot()],
  }).compile();
  return app.init();
}

async function rounds(count: number, round: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n++) all.push(await round());
  return all;
}

/** @returns the result and the CPU time in µs */
async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  await turn();
  const from = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(from);
  return [result, user + system];
}

function number(): string {
  return `23480${10_000_000 + numbers++}`;
}
