import {
  ContactsService,
  EmailService,
  MessagingModule,
  type MessagingOptions,
  MessagingService,
  NotificationService,
  SmsService,
} from '@dundun/messaging';
import { MessageHistory, MessagingOperations } from '@dundun/messaging/operations';
import {
  DeferredFailure,
  type GuardedBatch,
  type GuardedChange,
  type GuardedEnd,
  type MessageTransport,
  MESSAGING_SPEND_GUARD,
  PermanentFailure,
  SpendRefusedError,
  type SpendReservation,
  type Submission,
} from '@dundun/messaging/ports';
import { insertion, updateOf, WorkQueues } from '@dundun/messaging/queue';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { randomBytes, randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { CreditsGuard } from '../../../examples/prepaid-credits/credits.guard.js';
import { CreditAccount, CreditBatch } from '../../../examples/prepaid-credits/credits.tables.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { ConcurrentChangeError } from '../../../libs/messaging/src/store/database/concurrent-change.error.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { NewBatch } from '../../../libs/messaging/src/store/rows/new-batch.js';
import { Purge } from '../../../libs/messaging/src/store/upkeep/purge.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Gate } from '../dispatch/dispatch-fixture.js';

/** Accepts messages to a number, and refuses those to numbers that end in 0. */
class Provider implements MessageTransport {
  readonly name = 'provider';
  readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000 };
  wait: Promise<void> = Promise.resolve();
  /** Of the accepted submissions, by recipient. */
  readonly references = new Map<string, string>();

  async submit({ id, attempt, recipients }: Submission): Promise<{ reference: string }> {
    await this.wait;
    const [recipient = ''] = recipients;
    // Delayed once, then given up.
    if (recipient.startsWith('grey'))
      throw new DeferredFailure('4.7.1', 'Greylisted', 50, attempt === 1 ? 60_000 : 1);
    if (recipient.startsWith('late') && attempt === 1)
      throw new DeferredFailure('4.7.1', 'Greylisted', 50, 60_000);
    if (recipient.endsWith('0')) throw new PermanentFailure('bad_number', 'No such number');
    this.references.set(recipient, id);
    return { reference: id };
  }
}

@Module({ providers: [{ provide: MESSAGING_SPEND_GUARD, useClass: CreditsGuard }] })
class Billing {}

type Priced = Pick<GuardedBatch, 'id' | 'tenant' | 'parts' | 'recipients'>;

/** Takes the credits in the statements that store the batches, without a look at what there is. */
@Injectable()
class ExpectingGuard extends CreditsGuard {
  readonly asked: string[] = [];

  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {
    super();
  }

  expects(): boolean {
    return true;
  }

  reserve(batches: readonly Priced[]): SpendReservation {
    const { dialect } = this.modules.get(WorkQueues, { strict: false }).database;
    const take = updateOf(
      dialect,
      { v_tenant: 'key', v_credits: 'int' },
      {
        table: 'credit_account',
        set: 'credits = credits - v_credits',
        where: 'credit_account.tenant = v_tenant AND credits >= v_credits',
        lockedBy: 'tenant',
      },
    );
    const columns = { v_batch: 'key', v_tenant: 'key', v_each: 'int' } as const;
    const insert = insertion(dialect, 'INSERT INTO credit_batch', columns);
    const sums = new Map<string, number>();
    for (const { tenant, parts, recipients } of batches)
      sums.set(tenant, (sums.get(tenant) ?? 0) + parts * recipients.length);
    return {
      take: take([...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      rows: sums.size,
      insert: insert(batches.map(({ id, tenant, parts }) => [id, tenant, parts])),
    };
  }

  override onAccepted(batches: readonly GuardedBatch[], manager: EntityManager) {
    this.asked.push(...batches.map(({ tenant }) => tenant));
    return super.onAccepted(batches, manager);
  }
}

@Module({ providers: [{ provide: MESSAGING_SPEND_GUARD, useClass: ExpectingGuard }] })
class ExpectingBilling {}

describeEachDatabase('a spend guard in the app’s own tables', (database) => {
  const provider = new Provider();
  let apps: TestingModule[] = [];
  let source: DataSource;
  let tenant: string;

  const boot = async (
    options: MessagingOptions = {},
    billing: Type = Billing,
  ): Promise<TestingModule> => {
    const app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({
          ...database.options(),
          entities: [CreditAccount, CreditBatch],
          migrations: [],
        }),
        MessagingModule.forRoot({ transport: () => provider, callbackPath: false, ...options }),
        billing,
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    apps.push(app);
    return app;
  };
  const credits = async () =>
    (await source.manager.findOneByOrFail(CreditAccount, { tenant })).credits;
  const buy = (credits: number) => source.manager.insert(CreditAccount, { tenant, credits });
  const stored = async () =>
    Number(
      (
        await source.query(`SELECT count(*) AS n FROM messaging_batch WHERE tenant = '${tenant}'`)
      )[0].n,
    );
  const message = (to: string | string[] = '2348012345678') => ({
    from: 'ACME',
    to,
    body: 'Hello',
  });

  beforeAll(async () => {
    source = await database.open({ entities: [CreditAccount, CreditBatch], synchronize: true });
  });
  beforeEach(() => {
    tenant = randomUUID();
    provider.wait = Promise.resolve();
  });
  afterEach(async () => {
    await Promise.all(apps.map((app) => app.close()));
    apps = [];
  });

  it('takes what a send costs, and gives back what the provider refuses', async () => {
    const sms = (await boot()).get(SmsService);
    await buy(10);
    const gate = new Gate();
    provider.wait = gate.opened;
    const long = 'A text of more than 160 characters has two parts. '.repeat(4);
    await sms.send({ ...message(['2348012345671', '2348012345670']), body: long }, { tenant });
    expect(await credits()).toBe(6);
    gate.open();
    await eventually(async () => expect(await credits()).toBe(8));
  });

  it('takes what is expected in the statement of the batches, and is asked where there is too little', async () => {
    const app = await boot({ dispatch: { enabled: false } }, ExpectingBilling);
    const sms = app.get(SmsService);
    const guard = app.get<ExpectingGuard>(MESSAGING_SPEND_GUARD, { strict: false });
    const others = Array.from({ length: 4 }, () => randomUUID());
    await source.manager.insert(
      CreditAccount,
      others.map((one) => ({ tenant: one, credits: 100 })),
    );
    await buy(3);
    await Promise.all(
      others.flatMap((one) => [1, 2, 3].map(() => sms.send(message(), { tenant: one }))),
    );
    expect(guard.asked).toEqual([]);
    const sends = await Promise.allSettled(
      [tenant, ...others].flatMap((one) =>
        Array.from({ length: 5 }, () => sms.send(message(), { tenant: one })),
      ),
    );
    const refused = sends.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(2);
    for (const one of refused) expect(one).toMatchObject({ reason: expect.any(SpendRefusedError) });
    expect(guard.asked).toContain(tenant);
    expect([await credits(), await stored()]).toEqual([0, 3]);
    for (const one of others)
      expect(await source.manager.findOneByOrFail(CreditAccount, { tenant: one })).toMatchObject({
        credits: 92,
      });
    expect(await source.manager.countBy(CreditBatch, { tenant })).toBe(3);
  });

  it.each([
    ['the guard of its channel fails', 3, 0, ConcurrentChangeError],
    ['there is too little money', 0, 3, SpendRefusedError],
  ])(
    'stores and takes nothing of a batch with rows of its channel where %s',
    async (_, money, own, refusal) => {
      const app = await boot({ dispatch: { enabled: false } }, ExpectingBilling);
      const guard = app.get<ExpectingGuard>(MESSAGING_SPEND_GUARD, { strict: false });
      const { newBatches } = app.get(MessageStore, { strict: false });
      const other = randomUUID();
      await source.manager.insert(CreditAccount, { tenant: other, credits: own });
      await buy(money);
      const batch: NewBatch = {
        id: systemClock.id(),
        tenant,
        channel: 'sms',
        lane: `${tenant}:sms`,
        class: 'normal',
        sender: 'ACME',
        content: { kind: 'text', text: 'Hello' },
        deliveryReport: true,
        parts: 1,
        recipients: ['2348012345678'],
        denied: [],
        createdAt: Date.now(),
        sendAt: null,
        validFor: null,
        idempotencyKey: null,
        fingerprint: null,
      };
      const { parts, recipients } = batch;
      const { take, ...rows } = guard.reserve([
        { id: systemClock.id(), tenant: other, parts, recipients },
      ]);
      const store = () =>
        newBatches.storeWith([batch], {
          guard: { statement: take, rows: rows.rows },
          insert: rows.insert,
        });
      const creditsOf = async (of: string) =>
        (await source.manager.findOneByOrFail(CreditAccount, { tenant: of })).credits;
      await expect(store()).rejects.toThrow(refusal);
      expect([await credits(), await creditsOf(other), await stored()]).toEqual([money, own, 0]);
      expect(await source.manager.countBy(CreditBatch, { tenant: other })).toBe(0);
      await source.manager.update(CreditAccount, [{ tenant }, { tenant: other }], { credits: 1 });
      await store();
      expect([await credits(), await creditsOf(other), await stored()]).toEqual([0, 0, 1]);
    },
  );

  it('hears whether a message that expires was with a provider, also after it was delayed', async () => {
    const heard: GuardedChange[] = [];
    @Module({
      providers: [
        {
          provide: MESSAGING_SPEND_GUARD,
          useValue: Object.assign(new CreditsGuard(), {
            onChanged: async (changes: readonly GuardedChange[]) => void heard.push(...changes),
          }),
        },
      ],
    })
    class HearingBilling {}
    const app = await boot({}, HearingBilling);
    const history = app.get(MessageHistory);
    await buy(3);
    const send = async (address: string) => {
      const to = `${address}@example.com`;
      const content = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hello' };
      return (await app.get(EmailService).send(content, { tenant })).id;
    };
    const last = (id: string) => heard.filter(({ batchId }) => batchId === id).at(-1);
    const [never, late, taken] = [await send('grey'), await send('late'), await send('ada')];
    await eventually(async () => {
      expect(last(never)).toMatchObject({ status: 'expired', sequence: 2, statuses: 1 });
      expect(last(late)).toMatchObject({ status: 'sent' });
      expect(last(taken)).toMatchObject({ status: 'sent' });
    });
    expect(last(late)).toMatchObject({ sequence: 2 });
    const { reports } = app.get(MessageStore, { strict: false });
    for (const address of ['late', 'ada']) {
      const reference = provider.references.get(`${address}@example.com`)!;
      const words = { status: 'expired', rawStatus: 'expired', errorCode: null } as const;
      await reports.record(
        [{ ...words, reference, messageId: null, recipient: null, providerTime: null }],
        { provider: 'provider' },
      );
    }
    await eventually(async () => {
      expect(last(late)).toMatchObject({ status: 'expired', sequence: 3, statuses: 2 });
      expect(last(taken)).toMatchObject({ status: 'expired', sequence: 2, statuses: 2 });
    });
    const counted = new Map<string, number>();
    for await (const page of history.guardedMessages([never, late, taken]))
      for (const { batchId, statuses } of page) counted.set(batchId, statuses);
    expect(counted).toEqual(
      new Map([
        [never, 1],
        [late, 2],
        [taken, 2],
      ]),
    );
  });

  it('refuses a send that costs more than there is, and stores nothing', async () => {
    const sms = (await boot({ dispatch: { enabled: false } })).get(SmsService);
    await buy(2);
    await sms.send(message(), { tenant });
    const refusal = sms.send(message(['2348012345671', '2348012345672']), { tenant });
    await expect(refusal).rejects.toThrow(
      new SpendRefusedError('insufficient_balance', 'The message needs 2 credits; buy more first'),
    );
    expect([await credits(), await stored()]).toEqual([1, 1]);
    const key = { tenant, idempotencyKey: 'k' };
    const refused = sms.send(message(['2348012345671', '2348012345672']), key);
    await expect(refused).rejects.toThrow(SpendRefusedError);
    // The refused key is free.
    await sms.send(message(), key);
    await sms.send(message(), key);
    expect([await credits(), await stored()]).toEqual([0, 2]);
  });

  it('accepts as many parallel sends of two processes as there is money for', async () => {
    const one = (await boot({ dispatch: { enabled: false } })).get(SmsService);
    const two = (await boot({ dispatch: { enabled: false } })).get(SmsService);
    await buy(60);
    const sends = Array.from({ length: 100 }, (_, n) =>
      (n % 2 ? one : two).send(message(), {
        tenant,
        ...(n % 4 > 1 && { idempotencyKey: String(n) }),
      }),
    );
    const results = await Promise.allSettled(sends);
    const errors = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(errors.filter((error) => !(error instanceof SpendRefusedError))).toEqual([]);
    expect([errors.length, await credits(), await stored()]).toEqual([40, 0, 60]);
  });

  it('a caller’s transaction decides on the money as well', async () => {
    const app = await boot({ dispatch: { enabled: false } });
    const [sms, messaging] = [app.get(SmsService), app.get(MessagingService)];
    await buy(3);
    const failing = messaging.transaction(async (manager) => {
      await sms.send(message(), { tenant, manager });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await credits()).toBe(3);
    await messaging.transaction(async (manager) => {
      await sms.send(message(), { tenant, manager });
      const tooMuch = message(['1', '2', '3'].map((digit) => `234801234567${digit}`));
      await sms.send(tooMuch, { tenant, manager }).catch((error: unknown) => {
        if (!(error instanceof SpendRefusedError)) throw error;
      });
      await sms.send(message(), { tenant, manager });
    });
    expect([await credits(), await stored()]).toEqual([1, 2]);
  });

  it('gives back what a cancel stops, started or not', async () => {
    const sms = (await boot()).get(SmsService);
    await buy(3);
    const sendAt = new Date(Date.now() + 3_600_000);
    const numbers = ['2348012345671', '2348012345672', '2348012345673'];
    const { id } = await sms.send({ ...message(numbers), sendAt }, { tenant });
    expect(await credits()).toBe(0);
    await sms.cancel(id, { tenant });
    await sms.cancel(id, { tenant });
    expect(await credits()).toBe(3);
  });

  it('the guard gets the spender of each send, also for later channels of a notification', async () => {
    const app = await boot();
    const guard = app.get<CreditsGuard>(MESSAGING_SPEND_GUARD, { strict: false });
    const accept = guard.onAccepted.bind(guard);
    const told: string[] = [];
    guard.onAccepted = (batches, manager) => {
      told.push(...batches.map(({ channel, spender }) => `${channel} ${spender}`));
      return accept(batches, manager);
    };
    await buy(10);
    await app.get(SmsService).send(message(), { tenant, spender: 'key-1' });
    await app.get(SmsService).send(message(), { tenant });
    const notification = {
      via: ['voice', 'sms'],
      sms: { from: 'ACME', body: 'Hello' },
      voice: { from: '2348012345600', text: 'Hello' },
    } as const;
    const options = { tenant, spender: 'key-2' };
    await app.get(NotificationService).send(notification, '2348012345670', options);
    await eventually(
      async () => expect(told).toEqual(['sms key-1', 'sms null', 'voice key-2', 'sms key-2']),
      20_000,
    );
    const wrong = app.get(SmsService).send(message(), { tenant, spender: 'key 3' });
    await expect(wrong).rejects.toThrow('spender: must be 1 to 64 visible ASCII characters');
  });

  it('a message that is sent again pays again', async () => {
    const app = await boot();
    await buy(1);
    const { id } = await app.get(SmsService).send(message('2348012345670'), { tenant });
    await eventually(async () => expect(await credits()).toBe(1));
    const operations = app.get(MessagingOperations);
    const again = await operations.resend(`${id}-0`, { by: 'ann' });
    expect(await credits()).toBe(0);
    await eventually(async () => expect(await credits()).toBe(1));
    await source.manager.update(CreditAccount, { tenant }, { credits: 0 });
    const third = operations.resend(again.messageId, { by: 'ann' });
    await expect(third).rejects.toThrow(SpendRefusedError);
  });

  it.each([{}, { idempotencyKey: 'n' }])(
    'a notification pays for each channel: without money for the first it is refused, for a later one it fails (%p)',
    async (key) => {
      const notifications = (await boot()).get(NotificationService);
      const notification = {
        via: ['voice', 'sms'],
        sms: { from: 'ACME', body: 'Hello' },
        voice: { from: '2348012345600', text: 'Hello' },
      } as const;
      const send = () => notifications.send(notification, '2348012345670', { tenant, ...key });
      await buy(0);
      await expect(send()).rejects.toThrow(SpendRefusedError);
      expect(await stored()).toBe(0);
      await source.manager.update(CreditAccount, { tenant }, { credits: 1 });
      const gate = new Gate();
      provider.wait = gate.opened;
      const { id } = await send();
      // It gives its credit back, and the next channel has none.
      await source.manager.update(CreditAccount, { tenant }, { credits: -1 });
      gate.open();
      await eventually(async () => {
        const { status, steps } = await notifications.find(id, { tenant });
        expect({ status, steps }).toMatchObject({
          status: 'failed',
          steps: [
            { status: 'rejected' },
            { status: 'rejected', errorCode: 'insufficient_balance' },
          ],
        });
      }, 20_000);
      expect(await credits()).toBe(0);
    },
  );

  it('retention ends a batch before its recipients are erased, and an erasure of its only recipient does', async () => {
    const app = await boot({
      reports: { pollAfter: 1, giveUpAfter: 1 },
      erasure: { keys: [randomBytes(32).toString('base64')] },
    });
    const ended: string[] = [];
    const guard = app.get<CreditsGuard>(MESSAGING_SPEND_GUARD, { strict: false });
    guard.onEnded = async (batches) => {
      // Retention ends those of other tests, too.
      for (const { batchId, cause, tenant: of } of batches)
        if (of === tenant) ended.push(`${batchId} ${cause}`);
    };
    await buy(2);
    const sms = app.get(SmsService);
    const { id } = await sms.send(message(), { tenant });
    const sendAt = new Date(Date.now() + 3_600_000);
    const { id: later } = await sms.send({ ...message('2348012345679'), sendAt }, { tenant });
    await app.get(ContactsService).erase('2348012345679', { tenant });
    await eventually(async () => expect(ended).toEqual([`${later} erased`]));
    const store = app.get(MessageStore, { strict: false });
    const writer = { guardEnd: async (_: unknown, of: readonly GuardedEnd[]) => guard.onEnded(of) };
    const purge = new Purge(store.database, { content: 1, messages: undefined }, 0, {
      writer,
      rows: 1,
    });
    await source.query(`UPDATE messaging_batch SET poll_at = NULL WHERE id = '${id}'`);
    await eventually(async () => {
      await purge.step(10);
      expect(ended).toEqual([`${later} erased`, `${id} retention`]);
    });
  });

  afterAll(() => source.destroy());
});
