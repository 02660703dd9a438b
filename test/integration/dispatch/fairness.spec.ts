import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ScriptedTransport } from './dispatch-fixture.js';

const SMALL = ['a', 'b', 'c'];

describeOneDatabase('one rate for all lanes', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it("a provider's rate limit is shared fairly between a campaign and other lanes", async () => {
    const quiet = await fixture.boot({ dispatch: false });
    const to = Array.from({ length: 2_000 }, (_, i) => String(2348010000000 + i));
    await quiet.sms.send({ from: 'ACME', to, body: 'campaign' }, { tenant: 'big' });
    for (const tenant of SMALL)
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => quiet.send(`${tenant} ${n}`, { tenant })),
      );
    const transport = new ScriptedTransport();
    await fixture.boot({
      providers: {
        scripted: { transport: () => transport, rateLimit: { max: 200, per: 1_000 } },
      },
    });
    await eventually(async () => expect(transport.started.length).toBeGreaterThan(200));
    const first = transport.started.slice(0, 200);
    // A fair part is 50 of each.
    for (const tenant of SMALL)
      expect(first.filter((submission) => submission.tenant === tenant).length).toBeGreaterThan(20);
  });
});
