import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { IdempotencyKeyReusedError, MessageValidationError, type Receipt } from '@dundun/messaging';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { whileInUse } from '../../support/while-in-use.js';
import { type DispatchApp, DispatchFixture } from './dispatch-fixture.js';

const message = (tenant: string | null | undefined) => ({
  from: 'ACME',
  to: '2348012345678',
  body: `once ${tenant}`,
});

/** All of them are one batch, and one of them made it. */
function expectOne(receipts: readonly Receipt[]): void {
  expect(new Set(receipts.map(({ id }) => id)).size).toBe(1);
  expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
}

describeEachDatabase('100 sends at once with one key', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('concurrent sends with one key from two processes are one batch, with and without a tenant', async () => {
    const apps = [await fixture.boot(), await fixture.boot({ dispatch: false })];
    const texts = () => apps[0]!.transport.texts.toSorted();
    for (const tenant of [undefined, 'acme']) {
      const receipts = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          whileInUse(() =>
            (apps[n % 2] as DispatchApp).sms.send(message(tenant), {
              idempotencyKey: 'order-1',
              ...(tenant !== undefined && { tenant }),
            }),
          ),
        ),
      );
      expectOne(receipts);
      await expect(
        apps[1]!.sms.send(
          { ...message(tenant), body: 'other' },
          { idempotencyKey: 'order-1', ...(tenant !== undefined && { tenant }) },
        ),
      ).rejects.toBeInstanceOf(IdempotencyKeyReusedError);
    }
    await eventually(async () => expect(texts()).toEqual(['once acme', 'once undefined']));
  });

  it('sends without a tenant share the idempotency keys of the empty tenant', async () => {
    const { sms, app } = await fixture.boot({ dispatch: false });
    const ways = [{}, { tenant: undefined }, { tenant: '' }];
    const receipts = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        sms.send(message(''), { idempotencyKey: 'order-1', ...(ways[n % 3] as object) }),
      ),
    );
    expectOne(receipts);
    const rows = await app
      .get(DataSource)
      .query(`SELECT tenant FROM messaging_batch WHERE idempotency_key = 'order-1'`);
    expect(rows).toEqual([{ tenant: '' }]);
    for (const wrong of [{ tenant: null }, { tenant: 7 }, { idempotencyKey: null }])
      await expect(sms.send(message(''), wrong as object)).rejects.toBeInstanceOf(
        MessageValidationError,
      );
  });
});

describeEachDatabase(
  '100 plain transactions at once with one key',
  (database) => {
    it('concurrent transactions with one key are one batch and a deadlock victim may retry', async () => {
      const fixture = new DispatchFixture(database);
      const { sms, app, transport } = await fixture.boot();
      const source = app.get(DataSource);
      const send = (): Promise<Receipt> =>
        source
          .transaction((manager) =>
            sms.send(message('plain'), { manager, tenant: 'plain', idempotencyKey: 'order-1' }),
          )
          .catch((error: { driverError?: { code?: string } }) => {
            if (!['ER_LOCK_DEADLOCK', '40P01'].includes(error.driverError?.code ?? '')) throw error;
            return send();
          });
      expectOne(await Promise.all(Array.from({ length: 100 }, send)));
      await eventually(async () => expect(transport.texts).toEqual(['once plain']));
      await fixture.clear();
    });
  },
  ['postgres', 'mariadb'],
);
