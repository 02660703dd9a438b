import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { type DynamicModule, Module } from '@nestjs/common';
import { MESSAGING_POLICY, type MessagingPolicy } from '@dundun/messaging';
import { RetryableFailure } from '@dundun/messaging/ports';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import { describeEachDatabase } from '../../support/databases.js';
import type { FlatOptions } from '../../support/flat-options.js';
import { eventually } from '../../support/eventually.js';
import {
  type DispatchApp,
  DispatchFixture,
  ForwardClock,
  Gate,
  ScriptedTransport,
} from './dispatch-fixture.js';

const CONNECTIONS = 3;
const LANES = 8;
const EACH = 6;
const TENANTS = Array.from({ length: LANES }, (_, n) => `t${n}`);

@Module({})
class Policies {}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describeEachDatabase('requests of all lanes of a process', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  /** Work in every lane, and a provider that carries three requests at once, each held until `answers` opens or it is to give up. */
  async function dispatch(options: FlatOptions = {}) {
    const sender = await fixture.boot({ dispatch: false });
    for (let n = 0; n < EACH; n++)
      await Promise.all(TENANTS.map((tenant) => sender.send(`${tenant} ${n}`, { tenant })));
    const transport = new ScriptedTransport({
      maxRecipients: 1,
      idempotencyWindow: 3_600_000,
      connections: CONNECTIONS,
    });
    const answers = new Gate();
    let under = 0;
    let most = 0;
    transport.script = async (_submission, signal) => {
      most = Math.max(most, ++under);
      signal.addEventListener('abort', answers.open, { once: true });
      await answers.opened;
      under--;
    };
    const app = await fixture.boot({ concurrency: 4, ...options }, transport);
    return { app, transport, answers, most: () => most };
  }

  /** Lanes with a committed intent. */
  const ready = async ({ store }: DispatchApp) => {
    const [row] = await store.database.all<{ lanes: string | number }>(
      'SELECT count(DISTINCT b.lane) AS lanes FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch',
    );
    return Number(row?.lanes);
  };
  /** Every lane would start something, and as many have as the provider carries. */
  const untilFull = (app: DispatchApp, transport: ScriptedTransport) =>
    eventually(async () => {
      expect(await ready(app)).toBe(LANES);
      expect(transport.started).toHaveLength(CONNECTIONS);
    });
  const statuses = async ({ store }: DispatchApp) => {
    const rows = await store.database.all<{ status: string | number; n: string | number }>(
      'SELECT status, count(*) AS n FROM messaging_message GROUP BY status ORDER BY status',
    );
    return new Map<number, number>(rows.map(({ status, n }) => [Number(status), Number(n)]));
  };
  const inOrder = (transport: ScriptedTransport) => {
    for (const tenant of TENANTS)
      expect(transport.texts.filter((text) => text.startsWith(`${tenant} `))).toEqual(
        Array.from({ length: EACH }, (_, n) => `${tenant} ${n}`),
      );
  };

  it("requests in flight never exceed the provider's connections and lanes take turns in order", async () => {
    const { app, transport, answers, most } = await dispatch();
    await untilFull(app, transport);
    answers.open();
    await eventually(async () => expect(transport.accepted).toHaveLength(LANES * EACH));
    expect(most()).toBe(CONNECTIONS);
    inOrder(transport);
  });

  it('submissions waiting for a connection at a stop are withdrawn and sent later', async () => {
    const { app, transport, answers } = await dispatch({ shutdownTimeout: 60_000 });
    const other = await fixture.boot({ dispatch: false });
    await untilFull(app, transport);
    const closed = app.app.close();
    // Submissions that did not start are withdrawn before those in flight are answered.
    await eventually(async () =>
      expect((await statuses(other)).get(STATUS_RANK.sending)).toBe(CONNECTIONS),
    );
    answers.open();
    await closed;
    expect(transport.accepted).toHaveLength(CONNECTIONS);
    const found = await statuses(other);
    expect([...found.keys()]).toEqual([STATUS_RANK.queued, STATUS_RANK.sent]);
    expect(found.get(STATUS_RANK.sent)).toBe(CONNECTIONS);
  });

  it('a resting lane gives its connections to other lanes', async () => {
    const { transport, answers } = await dispatch();
    const accept = transport.script;
    let refused = 0;
    transport.script = async (submission, signal) => {
      await accept(submission, signal);
      if (submission.tenant === TENANTS[0] && refused++ < 4)
        throw new RetryableFailure('busy', 'try again');
    };
    answers.open();
    await eventually(async () => expect(transport.accepted).toHaveLength(LANES * EACH));
    expect(refused).toBeGreaterThanOrEqual(4);
  });

  it('a lane keeps its turn for a connection while it asks policy', async () => {
    const [busy, quiet] = ['busy', 'quiet'];
    const sender = await fixture.boot({ dispatch: false });
    for (let n = 0; n < 8; n++) await sender.send(`${n}`, { tenant: busy });
    const transport = new ScriptedTransport({
      maxRecipients: 1,
      idempotencyWindow: 3_600_000,
      connections: 1,
    });
    const clock = new ForwardClock();
    const waits = new Gate();
    transport.script = async () => {
      await waits.opened;
      // The policy decisions of waiting submissions are outdated.
      clock.ahead += 2_000;
    };
    let asked = 0;
    const slow: MessagingPolicy = {
      name: 'slow',
      async decide({ stage, items }) {
        if (stage === 'dispatch' && items.some(({ message }) => message.tenant === quiet)) {
          asked++;
          const before = transport.started.length;
          for (let n = 0; n < 300 && transport.started.length === before; n++) await turn();
        }
        return new Map();
      },
    };
    const policies: DynamicModule = {
      module: Policies,
      providers: [{ provide: MESSAGING_POLICY, useValue: slow }],
    };
    const app = await fixture.boot({ lease: '10m' }, transport, undefined, [policies], clock);
    await eventually(async () => expect(transport.started).toHaveLength(1));
    const id = await app.send('quiet', { tenant: quiet });
    await eventually(async () =>
      expect((await app.sms.batch(id, { tenant: quiet })).counts).toEqual({ sending: 1 }),
    );
    // The lane awaits its turn once it asks policy no more.
    for (let known = -1; known < asked;) {
      known = asked;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    waits.open();
    await eventually(async () => expect(transport.texts).toHaveLength(9));
    expect(transport.texts.indexOf('quiet')).toBeLessThan(3);
  });
});
