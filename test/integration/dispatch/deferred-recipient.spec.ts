import { afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { BouncedFailure, DeferredFailure } from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ScriptedTransport } from './dispatch-fixture.js';

// Messages wait through many tries.
jest.setTimeout(120_000);

const HOUR = 3_600_000;
const [first, second, third] = ['2348012345671', '2348012345672', '2348012345673'] as const;

describeOneDatabase('a recipient that is refused for now', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const boot = () =>
    fixture.boot(
      { maxAttempts: 2, retryFor: 1 },
      new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: 0 }),
    );

  it('one deferred recipient waits alone and is tried more often than maxAttempts', async () => {
    const { sms, transport } = await boot();
    let refusals = 4;
    transport.script = ({ recipients: [to] }) => {
      if (to === first && refusals-- > 0) throw new DeferredFailure('4.7.1', 'Later', 30, HOUR);
    };
    const { id } = await sms.send({ from: 'ACME', to: [first, second, third], body: 'x' });
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 3 }));
    const order = transport.started.map(({ recipients: [to] }) => to);
    expect(order.filter((to) => to === first)).toHaveLength(5);
    expect(order.slice(0, 3)).toEqual([first, second, third]);
  });

  it('a deferred message expires when it was tried for long enough', async () => {
    const { sms, transport, send } = await boot();
    transport.script = () => {
      throw new DeferredFailure('4.2.1', 'Later', 50, 1_000);
    };
    const id = await send('x');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ expired: 1 }));
    expect((await sms.messages(id)).data[0]?.errorCode).toBe('4.2.1');
    expect(transport.started.length).toBeGreaterThan(1);
  });

  it('a bounced message ends with the status of the failure', async () => {
    const { sms, transport, send } = await boot();
    transport.script = () => {
      throw new BouncedFailure('5.1.1', 'No such user', { category: 'recipient' }, 'undelivered');
    };
    const id = await send('x');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ undelivered: 1 }));
    expect((await sms.messages(id)).data[0]?.errorCode).toBe('5.1.1');
    expect(transport.started).toHaveLength(1);
  });
});
