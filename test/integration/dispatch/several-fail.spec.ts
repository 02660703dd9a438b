import { afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { RetryableFailure, UncertainFailure } from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, Gate, textOf } from './dispatch-fixture.js';

// Messages are tried many times.
jest.setTimeout(120_000);

const POISONS = ['poison 1', 'poison 2', 'poison 3'];

describeOneDatabase('several batches of a lane that always fail', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each([
    ['refused', new RetryableFailure('http_503', 'x'), 'failed'],
    ['uncertain', new UncertainFailure('http_500', 'x'), 'unknown'],
  ])(
    'batches that always fail back off (%s) until the following ones were tried',
    async (_, failure, end) => {
      const { send, sms, transport } = await fixture.boot({
        concurrency: 1,
        maxAttempts: 4,
        backoff: 1,
      });
      // Alone in its lane the first would be tried as long as the others take to come.
      const all = new Gate();
      transport.script = async (submission) => {
        await all.opened;
        if (POISONS.includes(textOf(submission))) throw failure;
      };
      const ids: string[] = [];
      for (const poison of POISONS) ids.push(await send(poison));
      await send('passes');
      all.open();
      await eventually(async () => expect(transport.texts).toEqual(['passes']));
      const tried = transport.started.map(textOf);
      expect(tried.slice(0, tried.indexOf('passes'))).toEqual(
        POISONS.flatMap((poison) => [poison, poison, poison]),
      );
      for (const id of ids)
        await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ [end]: 1 }));
    },
  );

  it('batches that back off are retried even when the database is slow to answer that no other is left', async () => {
    const { store, send, sms, transport } = await fixture.boot({ backoff: 1 });
    const { work } = store;
    const probe = work.probe.bind(work);
    work.probe = async (lane) => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return probe(lane);
    };
    transport.script = () => {
      if (transport.started.length <= 6) throw new UncertainFailure('http_500', 'x');
    };
    const id = await send('x');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect(transport.started).toHaveLength(7);
  });
});
