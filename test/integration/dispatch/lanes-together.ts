import type { DispatchEngine } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { slice } from '../../../libs/messaging/src/dispatch/slice.js';
import type { Lease } from '../../../libs/messaging/src/store/rows/lease.js';
import type { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { Drain } from '../../../libs/messaging/src/ports/dispatch-engine.js';
import { type DispatchApp, Gate } from './dispatch-fixture.js';
import { everythingTo, TRANSPORT } from './intend.js';

export const TENANTS = Array.from({ length: 20 }, (_, n) => `t${String(n).padStart(2, '0')}`);
export const ODD = TENANTS[7] as string;
export const OTHERS = TENANTS.filter((tenant) => tenant !== ODD);
export const laneOf = (tenant: string) => `${tenant}:sms`;

/** One message in each lane, all lanes taken and planned, nothing written down yet. */
export async function takeAll(app: DispatchApp) {
  const { store } = app;
  await Promise.all(TENANTS.map((tenant) => app.send('x', { tenant })));
  const leases = await Promise.all(TENANTS.map((tenant) => store.lanes.acquire(laneOf(tenant))));
  return new Map(TENANTS.map((tenant, n) => [tenant, leases[n] as Lease]));
}

export async function intendOne(store: MessageStore, { lane, fence }: Lease) {
  const planned = await store.work.plan(lane, 10);
  const limits = {
    ...everythingTo(TRANSPORT),
    now: 0,
    wallNow: Date.now(),
    most: Infinity,
  };
  const intent = slice(planned, () => undefined, limits);
  return store.intents.record({ lane, fence, ...intent });
}

/** The result of each lane's intent, all requested at once. */
export async function intendAll(store: MessageStore, leases: ReadonlyMap<string, Lease>) {
  const results = await Promise.allSettled(
    TENANTS.map((tenant) => intendOne(store, leases.get(tenant) as Lease)),
  );
  return new Map(TENANTS.map((tenant, n) => [tenant, results[n] as (typeof results)[number]]));
}

export async function statuses({ app }: DispatchApp): Promise<Record<string, number>> {
  const rows: { tenant: string; n: string | number }[] = await app
    .get(DataSource)
    .query(
      'SELECT b.tenant, count(m.batch) AS n FROM messaging_batch b LEFT JOIN messaging_message m ON m.batch = b.id GROUP BY b.tenant',
    );
  return Object.fromEntries(rows.map(({ tenant, n }) => [tenant, Number(n)]));
}

/** Locks a row in another transaction until released. */
export async function lockRow(app: DispatchApp, sql: string): Promise<() => Promise<void>> {
  const held = new Gate();
  const end = new Gate();
  const locking = app.app.get(DataSource).transaction(async (manager) => {
    await manager.query(sql);
    held.open();
    await end.opened;
  });
  await held.opened;
  return async () => {
    end.open();
    await locking;
  };
}

/** Drains when the test says so. */
export class HandEngine implements DispatchEngine {
  #drain: Drain | undefined;

  async start(drain: Drain): Promise<void> {
    this.#drain = drain;
  }

  wake(): void {}

  async stop(): Promise<void> {}

  drainAll() {
    return Promise.allSettled(TENANTS.map(async (tenant) => this.#drain?.(laneOf(tenant))));
  }
}
