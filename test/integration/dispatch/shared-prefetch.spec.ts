import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { RetryableFailure } from '@dundun/messaging/ports';
import { Dispatcher } from '../../../libs/messaging/src/dispatch/dispatcher.js';
import { messageLanes } from '../../../libs/messaging/src/dispatch/message-lane.js';
import { PrefetchBudget } from '../../../libs/messaging/src/dispatch/prefetch-size.js';
import { ProviderBreaker } from '../../../libs/messaging/src/dispatch/provider-breaker.js';
import { ProviderState } from '../../../libs/messaging/src/dispatch/provider-state.js';
import { Router } from '../../../libs/messaging/src/routing/router.js';
import { registryOf } from '../../../libs/messaging/src/channels/built-in-channels.js';
import { DatabaseEngine } from '../../../libs/messaging/src/engines/database.engine.js';
import { PolicyPipeline } from '../../../libs/messaging/src/policy/policy-pipeline.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type DispatchApp, DispatchFixture, Gate, ScriptedTransport } from './dispatch-fixture.js';

const LANES = 20;
const EACH = 30;
const MOST = 100;
const LEAST = 4;
const CONCURRENCY = 2;
const TENANTS = Array.from({ length: LANES }, (_, n) => `t${n}`);

describeOneDatabase('the prefetch of all lanes', (database) => {
  let fixture: DispatchFixture;
  const open: Dispatcher[] = [];
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((dispatcher) => dispatcher.stop()));
    await fixture.clear();
  });

  /** A dispatcher of its own on the app's store, with a small budget. */
  async function dispatch({ app, store }: DispatchApp, transport: ScriptedTransport) {
    const { lanes, work, intents, outcomes, doubts, reports, data } = store;
    const budget = new PrefetchBudget(MOST, LEAST);
    const context = {
      lanes,
      work,
      intents,
      outcomes,
      doubts,
      reports,
      data,
      budget,
      waves: new Map(),
      holds: { of: () => undefined },
      channels: registryOf(),
      router: new Router(undefined, new Map([[transport.name, transport]])),
      providers: new Map([
        [
          transport.name,
          new ProviderState(
            transport.name,
            transport,
            undefined,
            undefined,
            undefined,
            new ProviderBreaker(transport.name, systemClock, 5, undefined),
          ),
        ],
      ]),
      policy: app.get(PolicyPipeline, { strict: false }),
      places: { isLeased: true },
      clock: systemClock,
      rateLimit: undefined,
      lane: undefined,
      backoff: 5,
      retryFor: 60_000,
      leaseTime: 30_000,
      concurrency: CONCURRENCY,
      maxAttempts: 8,
      timeout: 60_000,
      shutdownTimeout: 1_000,
    };
    const dispatcher = new Dispatcher(new DatabaseEngine(), context, messageLanes(context));
    open.push(dispatcher);
    await dispatcher.start();
    for (const tenant of TENANTS) dispatcher.wake(`${tenant}:sms`);
    return budget;
  }

  const sendAll = async (app: DispatchApp) => {
    for (let n = 0; n < EACH; n++)
      await Promise.all(TENANTS.map((tenant) => app.send(`${tenant} ${n}`, { tenant })));
  };
  const textsOf = (tenant: string, texts: readonly string[]) =>
    texts.filter((text) => text.startsWith(`${tenant} `));
  const inOrder = (tenant: string) => Array.from({ length: EACH }, (_, n) => `${tenant} ${n}`);

  it('prefetched messages are bounded over all lanes and every lane progresses in order', async () => {
    const app = await fixture.boot({ dispatch: false });
    await sendAll(app);
    const transport = new ScriptedTransport();
    const answers = new Gate();
    transport.script = () => answers.opened;
    const budget = await dispatch(app, transport);
    await eventually(async () => expect(transport.started).toHaveLength(LANES * CONCURRENCY));
    const [{ written }] = (await app.store.database.all<{ written: string | number }>(
      'SELECT count(*) AS written FROM messaging_message',
    )) as [{ written: string | number }];
    expect(Number(written) - transport.started.length).toBeLessThanOrEqual(MOST + LEAST * LANES);
    let most = 0;
    transport.script = () => {
      most = Math.max(most, budget.reserved);
    };
    answers.open();
    await eventually(async () => expect(transport.accepted).toHaveLength(LANES * EACH));
    expect(most).toBeLessThanOrEqual(MOST + LEAST * LANES);
    for (const tenant of TENANTS) expect(textsOf(tenant, transport.texts)).toEqual(inOrder(tenant));
    await eventually(async () => expect(budget.reserved).toBe(0));
  });

  it('lanes that fail, pause or stop release their share of the prefetch budget', async () => {
    const app = await fixture.boot({ dispatch: false });
    await sendAll(app);
    const transport = new ScriptedTransport();
    let refused = 0;
    transport.script = () => {
      if (refused++ % 3 === 0) throw new RetryableFailure('busy', 'try again');
    };
    const budget = await dispatch(app, transport);
    await eventually(async () => expect(transport.accepted.length).toBeGreaterThan(LANES));
    await open[0]!.stop();
    expect(budget.reserved).toBe(0);
  });
});
