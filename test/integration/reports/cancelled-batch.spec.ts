import { afterEach, expect, it } from '@jest/globals';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { heldAnswer } from './paper.transport.js';
import { report, ReportsApp } from './reports-app.js';

describeOneDatabase('a batch cancelled while a request of it is on its way', (database) => {
  let app: ReportsApp | undefined;
  afterEach(() => app?.close());

  it('a request in flight of a cancelled batch is followed to its end', async () => {
    app = await ReportsApp.start(database, { dispatch: { rateLimit: { max: 1, per: '1h' } } });
    const { paper, sms } = app;
    const held = heldAnswer(({ id }) => ({ reference: `ref-${id}` }));
    paper.answer = held.answer;
    const to = Array.from({ length: 9 }, (_, i) => String(2348010000000 + i));
    const { id } = await sms.send({ from: 'ACME', to, body: 'Hello' });
    const submission = await held.asked;
    expect((await sms.cancel(id)).status).toBe('cancelled');

    // A submission without an answer is not polled and not given up.
    const makeDue = () =>
      app!.query('UPDATE messaging_batch SET poll_at = 1 WHERE poll_at IS NOT NULL');
    await makeDue();
    await app.reconcile();
    expect(paper.asked).toEqual([]);

    held.give();
    await eventually(async () => expect(await app!.counts(id)).toMatchObject({ sent: 1 }));
    paper.reports = (submissions) =>
      Promise.resolve(
        submissions.map(({ submissionId, recipients }) => ({
          ...report({ recipient: recipients[0] ?? null }),
          submissionId,
        })),
      );
    await makeDue();
    await app.reconcile();
    expect(paper.asked.flat().map(({ submissionId }) => submissionId)).toEqual([submission.id]);
    const counts = (await sms.batch(id)).counts;
    expect(counts.delivered).toBe(1);
    expect(counts.cancelled).toBeGreaterThan(0);
    expect(paper.submissions).toHaveLength(1);
  });
});
