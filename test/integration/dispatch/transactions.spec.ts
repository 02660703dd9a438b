import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { EventEmitter2 } from '@nestjs/event-emitter';
import {
  ContactsService,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
} from '@dundun/messaging';
import type { DispatchEngine } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, Gate } from './dispatch-fixture.js';

describeEachDatabase('a send in a caller’s transaction', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('a send rolled back by a savepoint leaves no row and the outermost commit wakes the lane', async () => {
    const { messaging, send, sms, transport } = await fixture.boot();
    let lost = '';
    const kept = await messaging.transaction(async (manager) => {
      const id = await send('kept', { manager });
      await manager
        .transaction(async (inner) => {
          lost = await send('lost', { manager: inner });
          throw new Error('to the savepoint');
        })
        .catch(() => undefined);
      await manager.transaction((inner) => send('released', { manager: inner }));
      expect(transport.started).toEqual([]);
      return id;
    });
    await eventually(async () => expect(transport.texts.toSorted()).toEqual(['kept', 'released']));
    await expect(sms.batch(lost)).rejects.toThrow('No batch');
    await eventually(async () => expect((await sms.batch(kept)).counts).toEqual({ sent: 1 }));
  });

  it('events of a rolled-back savepoint are dropped and those of a released one published', async () => {
    const { app, messaging, sms } = await fixture.boot({ dispatch: false });
    const [denied, to] = ['2348012345670', ['2348012345670', '2348012345678']];
    await app.get(ContactsService).suppress(denied, { reason: 'complaint' });
    const told: string[] = [];
    app
      .get(EventEmitter2)
      .on(MESSAGE_STATUS_CHANGED, ({ batchId }: MessageStatusChanged) => told.push(batchId));
    const kept: string[] = [];
    await messaging.transaction(async (manager) => {
      const send = async (within = manager) =>
        (await sms.send({ from: 'ACME', to, body: 'x' }, { manager: within })).id;
      kept.push(await send());
      await manager
        .transaction(async (inner) => {
          await inner.transaction(send);
          await send(inner);
          throw new Error('to the savepoint');
        })
        .catch(() => undefined);
      await manager.transaction(async (inner) => {
        kept.push(await inner.transaction(send), await send(inner));
      });
      kept.push(await send());
    });
    await eventually(async () => expect(told).toContain(kept.at(-1)));
    expect(told.toSorted()).toEqual(kept.toSorted());
  });

  it('a send in a released savepoint is not sent when the outer transaction rolls back', async () => {
    const { messaging, send, sms, transport } = await fixture.boot();
    const ids: string[] = [];
    await expect(
      messaging.transaction(async (manager) => {
        ids.push(await manager.transaction((inner) => send('released', { manager: inner })));
        throw new Error('outer');
      }),
    ).rejects.toThrow('outer');
    const after = await send('after');
    await eventually(async () => expect((await sms.batch(after)).status).toBe('completed'));
    expect(transport.texts).toEqual(['after']);
    await expect(sms.batch(ids[0] ?? '')).rejects.toThrow('No batch');
  });

  it('100 concurrent sends in transactions with one key are one batch, with and without a tenant', async () => {
    const { messaging, sms, transport } = await fixture.boot();
    for (const tenant of [undefined, 'acme']) {
      const receipts = await Promise.all(
        Array.from({ length: 100 }, () =>
          messaging.transaction((manager) =>
            sms.send(
              { from: 'ACME', to: '2348012345678', body: `once ${tenant}` },
              { manager, idempotencyKey: 'order-1', ...(tenant !== undefined && { tenant }) },
            ),
          ),
        ),
      );
      expect(new Set(receipts.map(({ id }) => id)).size).toBe(1);
      expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    }
    await eventually(async () =>
      expect(transport.texts.toSorted()).toEqual(['once acme', 'once undefined']),
    );
  });

  it('100 concurrent sends in transactions without a key are 100 batches', async () => {
    const { messaging, send, transport } = await fixture.boot();
    const ids = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        messaging.transaction((manager) => send(String(i), { manager })),
      ),
    );
    expect(new Set(ids).size).toBe(100);
    await eventually(async () => expect(new Set(transport.texts).size).toBe(100));
    expect(transport.accepted).toHaveLength(100);
  });

  it('an engine that throws on wake fails neither commit nor send', async () => {
    const engine: DispatchEngine = {
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      wake: () => {
        throw new Error('the broker is away');
      },
    };
    const { messaging, send, sms } = await fixture.boot({}, undefined, engine);
    const alone = await send('alone');
    const within = await messaging.transaction((manager) => send('within', { manager }));
    await new Promise((resolve) => setImmediate(resolve));
    for (const id of [alone, within]) expect((await sms.batch(id)).status).toBe('queued');
  });

  it('an engine that never answers a wake delays neither commit nor stop', async () => {
    const never = new Promise<void>(() => undefined);
    const engine = { start: () => Promise.resolve(), stop: () => never, wake: () => never };
    const { messaging, send, sms, app } = await fixture.boot(
      { shutdownTimeout: 50 },
      undefined,
      engine as unknown as DispatchEngine,
    );
    const id = await messaging.transaction((manager) => send('within', { manager }));
    expect((await sms.batch(id)).status).toBe('queued');
    await app.close();
  });
});

describeEachDatabase(
  'a transaction that commits late',
  (database) => {
    let fixture: DispatchFixture;
    beforeAll(() => {
      fixture = new DispatchFixture(database);
    });
    afterEach(() => fixture.clear());

    it('a batch whose transaction commits late is sent after later ones', async () => {
      const { app, send, sms, transport } = await fixture.boot();
      const sent = new Gate();
      const late = app.get(DataSource).transaction(async (manager) => {
        await send('early and late', { manager });
        await sent.opened;
      });
      const quick = await send('later and quick');
      await eventually(async () => expect((await sms.batch(quick)).status).toBe('completed'));
      sent.open();
      await late;
      await eventually(async () =>
        expect(transport.texts).toEqual(['later and quick', 'early and late']),
      );
    });
  },
  ['postgres', 'mariadb'],
);

describeEachDatabase(
  'a transaction that SQLite has undone by itself',
  (database) => {
    const fixture = new DispatchFixture(database);
    afterEach(() => fixture.clear());

    it('a transaction that SQLite has rolled back refuses sends, and its earlier sends are not sent', async () => {
      const { app, messaging, sms, send, transport } = await fixture.boot();
      const source = app.get(DataSource);
      await source.query('CREATE TABLE filled (value BLOB)');
      const ids: string[] = [];
      const undone = messaging.transaction(async (manager) => {
        ids.push(await send('before', { manager }));
        await manager.query('PRAGMA max_page_count = 1');
        const full = manager.query('INSERT INTO filled (value) VALUES (zeroblob(1000000))');
        await expect(full).rejects.toThrow('full');
        ids.push(await send('after', { manager }));
      });
      await expect(undone).rejects.toThrow('undone');
      await source.query('PRAGMA max_page_count = 1000000');
      const later = await send('later');
      await eventually(async () => expect((await sms.batch(later)).counts).toEqual({ sent: 1 }));
      expect(ids).toHaveLength(1);
      await expect(sms.batch(ids[0] as string)).rejects.toThrow('No batch');
      expect(transport.texts).toEqual(['later']);
    });
  },
  ['sqlite'],
);
