import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, relayedFixture } from './dispatch-fixture.js';

describeEachDatabase('concurrent sends', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('another process reads each of several concurrent sends once it resolves', async () => {
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
});

describeEachDatabase(
  'concurrent sends whose commit is answered by a broken connection',
  (database) => {
    const used = relayedFixture(database);

    it('sends whose shared commit is answered by a broken connection resolve, and are stored once', async () => {
      const { sms, send } = await used.fixture.boot({ dispatch: false });
      const ids: string[] = [];
      for (let round = 0; round < 2; round++) {
        used.relayed.loseCommit('INSERT INTO messaging_batch_chunk');
        ids.push(...(await Promise.all(Array.from({ length: 20 }, (_, n) => send(String(n))))));
        expect(used.relayed.relay.isLosing).toBe(false);
      }
      const { data } = await sms.batches({ limit: 100 });
      expect(data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    });
  },
  ['postgres', 'mariadb'],
);
