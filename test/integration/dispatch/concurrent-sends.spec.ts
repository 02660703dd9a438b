import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture } from './dispatch-fixture.js';

describeEachDatabase('sends that come together', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('are each durable when they resolve: another process reads them', async () => {
    const { send, sms, transport } = await fixture.boot();
    const other = await fixture.boot({ dispatch: false });
    const ids = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const id = await send(String(n));
        expect(await other.sms.batch(id)).toMatchObject({ id, recipients: 1 });
        return id;
      }),
    );
    expect(new Set(ids).size).toBe(100);
    for (const id of ids)
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect(transport.started).toHaveLength(100);
  });

  it('whose commit was not told of, twice: each is stored once, and resolves', async () => {
    const { store, sms, send } = await fixture.boot({ dispatch: false });
    let losses = 2;
    const losing =
      <A extends unknown[], R>(work: (...of: A) => Promise<R>) =>
      async (...of: A): Promise<R> => {
        const done = await work(...of);
        if (losses-- > 0)
          throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
        return done;
      };
    const { database } = store;
    Object.assign(database.standalone, { all: losing(database.standalone.all) });
    database.transaction = losing(
      database.transaction.bind(database),
    ) as typeof database.transaction;
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send(String(n))));
    expect(losses).toBeLessThan(0);
    const { data } = await sms.batches({ limit: 100 });
    expect(data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });
});
