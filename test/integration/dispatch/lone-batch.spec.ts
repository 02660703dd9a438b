import { afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { RetryableFailure, UncertainFailure } from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, textOf } from './dispatch-fixture.js';

// Messages are tried until `retryFor` ends.
jest.setTimeout(120_000);

const MAX_ATTEMPTS = 3;
/** The provider's own wish, in milliseconds: our backoff would grow with every try. */
const SOON = 5;

describeOneDatabase('a batch alone in its lane', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each([
    ['refused', new RetryableFailure('http_503', 'x', SOON)],
    ['uncertain', new UncertainFailure('http_500', 'x', SOON)],
  ])(
    'a batch alone in its lane survives an outage (%s) with any number of tries',
    async (_, failure) => {
      const { send, sms, transport } = await fixture.boot({ maxAttempts: MAX_ATTEMPTS });
      let away = true;
      transport.script = () => {
        if (away) throw failure;
      };
      const id = await send('waits');
      await eventually(async () =>
        expect(transport.started.length).toBeGreaterThan(2 * MAX_ATTEMPTS + 1),
      );
      away = false;
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    },
  );

  it.each([
    ['refused', new RetryableFailure('http_503', 'x', SOON), 'failed'],
    ['uncertain', new UncertainFailure('http_500', 'x', SOON), 'unknown'],
  ])(
    "a batch alone in its lane is given up (%s) once another lane's success proves the provider",
    async (_, failure, end) => {
      const { send, sms, transport } = await fixture.boot({ maxAttempts: MAX_ATTEMPTS });
      transport.script = (submission) => {
        if (textOf(submission) === 'poison') throw failure;
      };
      const poison = await send('poison', { tenant: 'a' });
      await eventually(async () =>
        expect(transport.started.length).toBeGreaterThan(MAX_ATTEMPTS + 1),
      );
      await send('passes', { tenant: 'b' });
      await eventually(async () =>
        expect((await sms.batch(poison, { tenant: 'a' })).counts).toEqual({ [end]: 1 }),
      );
      expect(transport.texts).toEqual(['passes']);
    },
  );

  it('a batch alone in its lane is given up after retryFor', async () => {
    const { send, sms, transport } = await fixture.boot({ maxAttempts: MAX_ATTEMPTS, retryFor: 0 });
    transport.script = () => {
      throw new RetryableFailure('http_503', 'x', SOON);
    };
    const id = await send('too long');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ failed: 1 }));
    // Three failures before the batch is known to be alone, and then its attempts.
    expect(transport.started.length).toBeGreaterThanOrEqual(MAX_ATTEMPTS);
  });
});
