import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { UncertainFailure } from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, textOf } from './dispatch-fixture.js';

const MAX_ATTEMPTS = 3;
/** Longer than a drain lingers, in milliseconds. */
const LONG = 1_100;

describeOneDatabase('tries of a submission whose outcome is uncertain', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('uncertain tries are counted across releases of the lane', async () => {
    const { send, sms, transport } = await fixture.boot({ maxAttempts: MAX_ATTEMPTS });
    transport.script = (submission) => {
      if (textOf(submission) === 'poison') throw new UncertainFailure('http_500', 'x', LONG);
    };
    const poison = await send('poison');
    await send('passes');
    await eventually(async () => expect((await sms.batch(poison)).counts).toEqual({ unknown: 1 }));
    expect(transport.texts).toEqual(['passes']);
    const tries = transport.started.filter((submission) => textOf(submission) === 'poison');
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
    expect(Math.max(...tries.map(({ attempt }) => attempt))).toBe(MAX_ATTEMPTS);
  });
});
