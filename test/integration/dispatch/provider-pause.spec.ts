import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { failover } from '@dundun/messaging';
import { PausedFailure } from '@dundun/messaging/ports';
import type { Start } from '../../chaos/cluster.js';
import { fullestWindow } from '../../chaos/fullest-window.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ScriptedTransport } from './dispatch-fixture.js';

const HOUR = 3_600_000;
const TENANTS = ['one', 'two', 'three', 'four'];

describeOneDatabase('a provider that accepts nothing', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('a paused provider gets no request of any lane, is shown with its reason, and gets all messages once it accepts', async () => {
    const a = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: HOUR });
    let accepts = false;
    a.script = () => {
      if (!accepts) throw new PausedFailure('unauthorized', 'check the token', 1_200);
    };
    const app = await fixture.boot({ providers: { a: () => a } });
    await app.send('first', { tenant: 'zero' });
    await eventually(async () =>
      expect(await app.messaging.providers()).toMatchObject([
        { name: 'a', pauseReason: 'unauthorized', pauseDetail: 'check the token' },
      ]),
    );
    const tried = a.started.length;
    accepts = true;
    for (const tenant of TENANTS) for (let n = 0; n < 5; n++) await app.send(`${n}`, { tenant });
    await eventually(async () => expect(a.accepted).toHaveLength(21));
    // One request found out for all lanes.
    expect(a.started).toHaveLength(21 + tried);
    await eventually(async () =>
      expect(await app.messaging.providers()).toMatchObject([{ state: 'up', pauseReason: null }]),
    );
  });

  it('another process does not try a paused provider, and its messages leave by the next provider', async () => {
    const [a, b] = [new ScriptedTransport(), new ScriptedTransport()];
    const providers = { a: () => a, b: () => b };
    const routes = [{ use: failover('a', 'b') }];
    a.script = () => {
      throw new PausedFailure('unreachable', 'connection refused', HOUR);
    };
    const first = await fixture.boot({ providers, routes });
    await first.send('first', { tenant: 'one' });
    await eventually(async () => expect(b.texts).toEqual(['first']));
    const second = await fixture.boot({ providers, routes });
    await first.app.close();
    for (const tenant of TENANTS) await second.send(tenant, { tenant });
    await eventually(async () => expect(b.accepted).toHaveLength(1 + TENANTS.length));
    expect(a.started).toHaveLength(1);
  });

  it('lanes share the rate of a provider after its pause', async () => {
    const a = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: HOUR });
    const starts: Start[] = [];
    a.script = () => void starts.push({ at: performance.now(), messages: 1 } as Start);
    const rateLimit = { max: 20, per: 500 };
    const app = await fixture.boot({ providers: { a: { transport: () => a, rateLimit } } });
    for (let n = 0; n < 20; n++)
      for (const tenant of ['one', 'two']) await app.send(`${n}`, { tenant });
    await eventually(async () => expect(a.accepted).toHaveLength(40));
    expect(fullestWindow(starts, rateLimit.per)).toBeLessThanOrEqual(rateLimit.max);
  });
});
