import {
  EmailService,
  MESSAGING_CLOCK,
  MessagingModule,
  MessageValidationError,
  type NewVerification,
  SmsService,
  VerificationLimitError,
  VerificationService,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import type { MessageTransport, Submission, SubmissionAccepted } from '@dundun/messaging/ports';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { randomInt, randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeOneDatabase } from '../../support/databases.js';
import { StatementLog } from '../../support/statement-log.js';
import { eventually } from '../../support/eventually.js';
import { ForwardClock } from '../dispatch/dispatch-fixture.js';

const MINUTE = 60_000;

/** Keeps the sent messages. */
class Recorder implements MessageTransport {
  readonly name = 'recorder';
  readonly capabilities = { maxRecipients: 100, idempotencyWindow: 3_600_000 };
  readonly submissions: Submission[] = [];

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.submissions.push(submission);
    return { reference: `ref-${submission.id}` };
  }

  codeTo(to: string): string {
    const content = this.submissions.find(({ recipients }) => recipients[0] === to)?.content;
    return /\b\d{4,8}\b/.exec(JSON.stringify(content))?.[0] ?? '';
  }
}

describeOneDatabase('one-time codes', (database) => {
  let app: TestingModule;
  let codes: VerificationService;
  let recorder: Recorder;
  let store: MessageStore;
  let tenant: string;
  const clock = new ForwardClock();
  const log = new StatementLog();

  beforeAll(async () => {
    recorder = new Recorder();
    app = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot({ ...database.options(), logging: true, logger: log }),
        MessagingModule.forRoot({
          transport: () => recorder,
          erasure: { keys: [Buffer.alloc(32, 1).toString('base64')] },
          verification: { countries: ['NG', 'GB', 'MX'], perNetwork: '100/h', perTenant: '300/h' },
          callbackPath: false,
          overrides: [{ provide: MESSAGING_CLOCK, useValue: clock }],
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    // The tests erase by themselves: the job's statements would be in the log of a check.
    app.get(SchedulerRegistry).deleteInterval('messaging.codes');
    codes = app.get(VerificationService);
    store = app.get(MessageStore, { strict: false });
  });
  afterAll(() => app.close());
  beforeEach(() => {
    tenant = randomUUID();
  });

  let numbers = randomInt(1_000_000);
  /** A number that no code before went to, of another network than its neighbours. */
  const numberOf = () => {
    numbers = (numbers + 10_007) % 10_000_000;
    return `234803${String(numbers).padStart(7, '0')}`;
  };
  const start = (more: Partial<NewVerification> = {}) => {
    const to = numberOf();
    return codes.start({ to, channel: 'sms', from: 'ACME', ...more }, { tenant });
  };
  /** A started verification, and the code that its message has. */
  const started = async (more: Partial<NewVerification> = {}) => {
    const to = more.to ?? numberOf();
    const { id } = await start({ to, ...more });
    await eventually(async () => expect(recorder.codeTo(to)).not.toBe(''));
    return { id, to, code: recorder.codeTo(to) };
  };
  const wrong = (code: string) => (code.startsWith('1') ? '2' : '1') + code.slice(1);
  const statusOf = async (id: string, code: string) =>
    (await codes.check(id, code, { tenant })).status;

  it('a right code verifies once, and a wrong one does not', async () => {
    const { id, to, code } = await started();
    expect(code).toMatch(/^\d{6}$/);
    expect(await statusOf(id, wrong(code))).toBe('pending');
    expect(await statusOf(id, code)).toBe('verified');
    expect(await statusOf(id, code)).toBe('expired');
    expect(await codes.find(id, { tenant })).toMatchObject({ status: 'verified', channel: 'sms' });
    const sent = recorder.submissions.filter(({ recipients }) => recipients[0] === to);
    expect(sent).toMatchObject([{ channel: 'sms', sender: 'ACME', content: { kind: 'text' } }]);
    const [row] = await store.database.all<{ priority: number }>(
      'SELECT b.priority FROM messaging_batch b WHERE b.id = ?',
      [sent[0]?.batchId],
    );
    expect(Number(row?.priority)).toBe(0);
  });

  it('of a hundred parallel checks of the right code, one verifies', async () => {
    const { id, code } = await started();
    const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(id, code)));
    expect(statuses.filter((status) => status === 'verified')).toHaveLength(1);
    expect(statuses.filter((status) => status === 'expired')).toHaveLength(99);
  });

  it('a hundred parallel guesses get as many tries as the code has', async () => {
    const { id, code } = await started({ attempts: 3 });
    const guesses = Array.from({ length: 99 }, (_, n) => String(n).padStart(6, '9'));
    const statuses = await Promise.all(
      guesses.filter((guess) => guess !== code).map((guess) => statusOf(id, guess)),
    );
    expect(statuses.filter((status) => status === 'pending')).toHaveLength(2);
    expect(await statusOf(id, code)).toBe('exhausted');
  });

  it('a check executes the same statements whatever its result', async () => {
    const statementsOf = async (id: string, code: string) => {
      log.clear();
      const answer = await statusOf(id, code).catch(({ code: error }: { code: string }) => error);
      return [answer, log.matching(/messaging_verification\b/)] as const;
    };
    const [open, late, used] = [await started(), await started({ ttl: '1m' }), await started()];
    expect(await statusOf(used.id, used.code)).toBe('verified');
    clock.ahead += MINUTE;
    const found = [
      await statementsOf(open.id, wrong(open.code)),
      await statementsOf(late.id, wrong(late.code)),
      await statementsOf(late.id, late.code),
      await statementsOf(used.id, wrong(used.code)),
      await statementsOf(used.id, used.code),
      await statementsOf(open.id, open.code),
    ];
    expect(found.map(([answer]) => answer)).toEqual([
      'pending',
      ...Array.from({ length: 4 }, () => 'expired'),
      'verified',
    ]);
    const [, expected] = found[0]!;
    expect(expected).toHaveLength(2);
    for (const [, statements] of found) expect(statements).toEqual(expected);
    const [answer, statements] = await statementsOf(randomUUID(), open.code);
    expect(answer).toBe('not_found');
    expect(statements).toEqual(expected.slice(0, 1));
  });

  it('an idempotency key returns the first verification within its window', async () => {
    const to = numberOf();
    const keyed = (length = 6) =>
      codes.start({ to, channel: 'sms', from: 'ACME', length }, { tenant, idempotencyKey: 'one' });
    const first = await keyed();
    expect(first.replayed).toBe(false);
    expect(await keyed()).toEqual({ ...first, replayed: true });
    await expect(keyed(8)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    clock.ahead += 25 * 60 * MINUTE;
    expect(await keyed(8)).toMatchObject({ replayed: false });
  });

  it("a verification joins the caller's transaction, and ends with it", async () => {
    const to = numberOf();
    const source = store.database.dataSource;
    const startWith = (manager: EntityManager) =>
      codes.start({ to, channel: 'sms', from: 'ACME' }, { tenant, manager });
    let undone = '';
    const failing = source.transaction(async (manager) => {
      undone = (await startWith(manager)).id;
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    await expect(codes.find(undone, { tenant })).rejects.toMatchObject({ code: 'not_found' });
    // The limits have forgotten the first code, too.
    const { id } = await source.transaction(startWith);
    await eventually(async () => expect(recorder.codeTo(to)).not.toBe(''));
    expect(recorder.submissions.filter(({ recipients }) => recipients[0] === to)).toHaveLength(1);
    expect(await statusOf(id, recorder.codeTo(to))).toBe('verified');
  });

  it('a code expires', async () => {
    const { id, code } = await started({ ttl: '1m' });
    clock.ahead += MINUTE;
    expect(await codes.find(id, { tenant })).toMatchObject({ status: 'expired' });
    expect(await statusOf(id, code)).toBe('expired');
  });

  it('a verification of another tenant is not found', async () => {
    const { id, code } = await started();
    await expect(codes.check(id, code, { tenant: 'other' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(codes.check('none', code, { tenant })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await statusOf(id, code)).toBe('verified');
  });

  it('no view, list or event has the code, and its content is erased when it ends', async () => {
    const { id, to, code } = await started();
    const [sent] = recorder.submissions.filter(({ recipients }) => recipients[0] === to);
    const batch = sent?.batchId ?? '';
    const sms = app.get(SmsService);
    const history = app.get(MessageHistory);
    const views = async () => [
      await sms.batch(batch, { tenant }),
      await sms.batches({ tenant }),
      await sms.message(`${batch}-0`, { tenant }),
      await sms.timeline(`${batch}-0`, { tenant }),
      await history.message(`${batch}-0`),
      await history.messages({ tenants: [tenant] }),
      [...(await history.contents([`${batch}-0`]))],
    ];
    expect(JSON.stringify(await views())).not.toContain(code);
    const stored = async () =>
      JSON.stringify([
        await store.database.all('SELECT * FROM messaging_batch b WHERE b.id = ?', [batch]),
        await store.database.all('SELECT * FROM messaging_submission s WHERE s.batch = ?', [batch]),
        await store.database.all('SELECT * FROM messaging_verification v WHERE v.id = ?', [id]),
        await store.database.all('SELECT * FROM messaging_report r WHERE r.batch = ?', [batch]),
      ]);
    expect(await stored()).toContain(code);
    // The provider's error and details may quote the text.
    const details = JSON.stringify({ diagnostic: code });
    await store.database.transaction(async (tx) => {
      await tx.run('UPDATE messaging_submission SET error_text = ?, details = ? WHERE batch = ?', [
        `refused: ${code}`,
        details,
        batch,
      ]);
      await tx.run('UPDATE messaging_report SET details = ? WHERE batch = ?', [details, batch]);
    });
    expect(await statusOf(id, code)).toBe('verified');
    await eventually(async () => {
      await codes.eraseEnded();
      expect(await stored()).not.toContain(code);
    });
    expect(JSON.stringify(await views())).not.toContain(code);
  });

  it('a code whose message still waits is not sent after its end', async () => {
    const { id } = await start({ ttl: '1m' });
    clock.ahead += 2 * MINUTE;
    await eventually(async () => {
      await codes.eraseEnded();
      const [row] = await store.database.all<{ rest: string | number }>(
        'SELECT count(*) AS rest FROM messaging_verification v WHERE v.id = ? AND v.erase_at IS NOT NULL',
        [id],
      );
      expect(Number(row?.rest)).toBe(0);
    });
    expect(await codes.find(id, { tenant })).toMatchObject({ status: 'expired' });
  });

  it('an email and a WhatsApp template carry a code', async () => {
    const to = `ada-${randomUUID()}@example.com`;
    const { id, code } = await started({ channel: 'email', from: 'codes@shop.example', to });
    const email = await app.get(EmailService).list({ tenant });
    expect(JSON.stringify(email)).not.toContain(code);
    expect(await statusOf(id, code)).toBe('verified');

    const phone = numberOf();
    const missing = start({ channel: 'whatsapp', to: phone, from: undefined });
    await expect(missing).rejects.toThrow(MessageValidationError);
  });

  it.each<[string, Partial<NewVerification>, string]>([
    ['an unknown channel', { channel: 'pigeon' }, 'channel'],
    ['an order', { channel: 'vas' }, 'channel'],
    ['three digits', { length: 3 }, 'length'],
    ['nine digits', { length: 9 }, 'length'],
    ['two attempts', { attempts: 2 }, 'attempts'],
    ['a ttl of a week', { ttl: '7d' }, 'ttl'],
    ['a country that is not allowed', { to: '12125550123' }, 'to'],
    ['no number', { to: 'abc' }, 'to'],
  ])('%s is refused by name', async (_, more, path) => {
    const failure = await start(more).catch((error: unknown) => error);
    expect((failure as MessageValidationError).fields?.map((field) => field.path)).toEqual([path]);
  });

  it('a recipient waits longer after each code, also under concurrency', async () => {
    const to = numberOf();
    const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => start({ to })));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const waits: number[] = [];
    for (let n = 0; n < 3; n++) {
      const refused = (await start({ to }).catch(
        (error: unknown) => error,
      )) as VerificationLimitError;
      expect(refused).toMatchObject({ scope: 'recipient', code: 'rate_limited' });
      waits.push(Math.ceil(refused.retryAfter / 1_000));
      clock.ahead += refused.retryAfter + 1_000;
      await start({ to });
    }
    expect(waits[1]! - waits[0]!).toBeGreaterThan(25);
    expect(waits[2]! - waits[1]!).toBeGreaterThan(50);
  });

  it('a recipient waits under each form of a number', async () => {
    await start({ to: '5215512345678' });
    await expect(start({ to: '525512345678' })).rejects.toMatchObject({ scope: 'recipient' });
  });

  it('a network, a country and a tenant have limits of their own', async () => {
    const network = `234809${randomInt(1_000, 9_999)}`;
    const toNetwork = await Promise.allSettled(
      Array.from({ length: 101 }, (_, n) =>
        start({ to: network.slice(0, 9) + String(n).padStart(4, '0') }),
      ),
    );
    expect(toNetwork.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
    expect(toNetwork.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { scope: 'network' },
    });
    const others = await Promise.allSettled(Array.from({ length: 201 }, () => start()));
    expect(others.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { scope: 'account' },
    });
  });

  it('codes to a country stop while few are ever checked, and only to it', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) ids.push((await start()).id);
    clock.ahead += 11 * MINUTE;
    await expect(start()).rejects.toMatchObject({ code: 'verification_stopped', country: 'NG' });
    await expect(start({ to: '447400123456' })).resolves.toBeDefined();
    for (const id of ids.slice(0, 10)) await statusOf(id, '000000');
    await expect(start()).resolves.toBeDefined();
  });
});
