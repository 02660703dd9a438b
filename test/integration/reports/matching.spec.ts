import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MessageNotFoundError } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { heldAnswer } from './paper.transport.js';
import { report, ReportsApp, TO } from './reports-app.js';

const OTHER = '2348012345679';
const STRANGER = '2348099999999';

describeEachDatabase('matching reports', (database) => {
  let app: ReportsApp;
  beforeEach(async () => {
    app = await ReportsApp.start(database);
  });
  afterEach(() => app.close());

  const waiting = () =>
    app.query<{ n: string }>('SELECT raw_status AS n FROM messaging_report WHERE batch IS NULL');

  it("reports match by reference and recipient, by message id, and by the submit's whole answer", async () => {
    const ids = new Map([
      [TO, 'm-1'],
      [OTHER, 'm-2'],
    ]);
    app.paper.answer = ({ id, recipients }) => ({
      reference: `bulk-${id}`,
      messageIds: recipients.map((to) => ids.get(to) ?? ''),
    });
    const id = await app.sent([TO, OTHER]);
    const reference = `bulk-${id}-s0`;
    expect(app.paper.submissions.map((s) => `bulk-${s.id}`)).toContain(reference);
    await app.hear(report({ reference, recipient: TO }));
    await app.hear(report({ messageId: 'm-2', status: 'undelivered' }));
    expect(await app.counts(id)).toEqual({ delivered: 1, undelivered: 1 });

    app.paper.answer = () => ({ reference: 'SM-1' });
    const single = await app.sent(TO);
    await app.hear(report({ messageId: 'SM-1', status: 'expired', rawStatus: 'EXPIRED' }));
    expect(await app.counts(single)).toEqual({ expired: 1 });
    await app.hear(report({ reference: 'SM-1', status: 'delivered' }));
    expect(await app.counts(single)).toEqual({ delivered: 1 });
    expect(await waiting()).toEqual([]);
  });

  it('an id of another provider or recipient changes nothing', async () => {
    app.paper.answer = () => ({ reference: 'r-1', messageIds: ['m-1'] });
    const id = await app.sent(TO);
    await app.store.reports.record([report({ messageId: 'm-1' }), report({ reference: 'r-1' })], {
      provider: 'somebody-else',
    });
    await app.hear(report({ messageId: 'm-1', recipient: STRANGER }));
    expect(await app.counts(id)).toEqual({ sent: 1 });
  });

  it.each([
    ['reference', 'two', [TO, OTHER]] as const,
    ['reference', 'one', [TO]] as const,
    ['messageId', 'two', [TO, OTHER]] as const,
    ['messageId', 'one', [TO]] as const,
  ])(
    'a reference shared by several submissions, as %s, the first of %s, matches each of them',
    async (name, _, to) => {
      app.paper.answer = () => ({ reference: 'campaign' });
      const first = await app.sent(to);
      await app.hear(report({ [name]: 'campaign', recipient: TO }));
      const second = await app.sent([STRANGER]);
      await app.hear(
        report({ [name]: 'campaign', recipient: STRANGER }),
        report({ [name]: 'campaign', recipient: OTHER }),
      );
      expect([await app.counts(first), await app.counts(second)]).toEqual([
        { delivered: to.length },
        { delivered: 1 },
      ]);
    },
  );

  it('a report of a recipient that only the provider knew belongs to the batch', async () => {
    const id = await app.sent([TO, OTHER]);
    const reference = `ref-${id}-s0`;
    await app.hear(report({ reference, recipient: STRANGER, rawStatus: 'one of the group' }));
    await app.hear(report({ reference, rawStatus: 'the whole submission' }));
    expect(await app.counts(id)).toEqual({ sent: 2 });
    const { data } = await app.sms.reports({ batchIds: [id] });
    expect(data.filter(({ rawStatus }) => rawStatus !== 'submit')).toEqual([
      expect.objectContaining({
        batchId: id,
        messageId: null,
        recipient: STRANGER,
        status: 'delivered',
        rawStatus: 'one of the group',
        sequence: null,
      }),
      expect.objectContaining({
        messageId: null,
        recipient: '',
        rawStatus: 'the whole submission',
      }),
    ]);
    const ofStranger = await app.sms.reports({ to: STRANGER });
    expect(ofStranger.data).toHaveLength(1);
    const ofMember = await app.sms.reports({ to: TO });
    expect(ofMember.data.map(({ rawStatus }) => rawStatus)).toEqual(['submit']);
    expect(await waiting()).toEqual([]);
  });

  it.each([
    ['reference and recipient', (reference: string) => report({ reference, recipient: TO })],
    ['message id', () => report({ messageId: 'm-early' })],
    ['the submit’s whole answer', (id: string) => report({ messageId: id })],
  ])('a report by %s that overtakes the answer is matched later', async (_by, of) => {
    const held = heldAnswer(({ id }) => ({ reference: `r-${id}`, messageIds: ['m-early'] }));
    app.paper.answer = held.answer;
    const { id } = await app.sms.send({ from: 'ACME', to: TO, body: 'Hello' });
    const submission = await held.asked;
    await app.hear(of(`r-${submission.id}`));
    expect(await app.counts(id)).toEqual({ sending: 1 });
    expect(await waiting()).toHaveLength(1);
    held.give();
    await eventually(async () => expect(await app.counts(id)).toEqual({ delivered: 1 }));
    const { data } = await app.sms.reports({ batchIds: [id] });
    expect(data.filter(({ rawStatus }) => rawStatus === 'DELIVRD')).toHaveLength(1);
  });

  it('the sweep matches a report that both transactions missed', async () => {
    const id = await app.sent([TO, OTHER]);
    // The state that two processes leave whose transactions missed each other.
    await app.hear(report({ reference: `ref-${id}-s9`, recipient: TO }));
    await app.query(`UPDATE messaging_report SET reference = 'ref-${id}-s0' WHERE batch IS NULL`);
    await app.reconcile();
    expect(await app.counts(id)).toEqual({ delivered: 1, sent: 1 });
    expect(await waiting()).toEqual([]);
  });

  it('an unmapped status is logged and changes nothing', async () => {
    const id = await app.sent(TO);
    await app.hear(report({ reference: `ref-${id}-s0`, status: null, rawStatus: 'HALF_WAY' }));
    expect(await app.counts(id)).toEqual({ sent: 1 });
    const { data } = await app.sms.reports({ batchIds: [id] });
    expect(data.at(-1)).toMatchObject({ status: null, rawStatus: 'HALF_WAY', sequence: null });
  });

  it('an invalid parsed report fails no other report', async () => {
    const id = await app.sent(TO);
    const reference = `ref-${id}-s0`;
    const odd = [
      { reference: 'a\0b' },
      { reference: '\ud800' },
      { reference: 'x'.repeat(1_000) },
      { recipient: '9'.repeat(300) },
      { rawStatus: `${'long '.repeat(100)}\0` },
      { rawStatus: undefined as never },
      { errorCode: '\0'.repeat(300) },
      { errorCode: 7 as never },
      { status: 'queued' as never },
      { status: '__proto__' as never },
      { providerTime: new Date(Number.NaN) },
      { providerTime: new Date(8.64e15) },
      { providerTime: new Date(-8.64e15) },
      { providerTime: 'yesterday' as never },
    ].map((changes) => report({ reference: 'odd', recipient: TO, ...changes }));
    await app.hear(...odd, report({ reference, recipient: TO }));
    expect(await app.counts(id)).toEqual({ delivered: 1 });
  });

  it("a timeline lists a message's events from acceptance to the last report", async () => {
    const id = await app.sent([TO, OTHER]);
    const reference = `ref-${id}-s0`;
    const providerTime = new Date('2026-02-03T04:05:06.789Z');
    await app.hear(
      report({ reference, recipient: OTHER, status: 'undelivered', errorCode: '27', providerTime }),
      report({ reference, recipient: TO }),
    );
    const timeline = await app.sms.timeline(`${id}-1`);
    const batch = await app.sms.batch(id);
    expect(timeline).toMatchObject({
      id: `${id}-1`,
      batchId: id,
      position: 1,
      recipient: OTHER,
      status: 'undelivered',
      errorCode: '27',
      acceptedAt: batch.createdAt,
      sentAt: app.paper.submissions.at(-1)?.firstSentAt,
    });
    expect(timeline.reports.map((r) => [r.status, r.sequence, r.messageId])).toEqual([
      ['sent', 1, `${id}-1`],
      ['undelivered', 2, `${id}-1`],
    ]);
    expect(timeline.reports[1]?.providerTime).toEqual(providerTime);

    const sendAt = new Date(Date.now() + 3_600_000);
    const later = await app.sms.send({ from: 'ACME', to: [TO, OTHER], body: 'x', sendAt });
    expect(await app.sms.timeline(`${later.id}-1`)).toMatchObject({
      recipient: OTHER,
      status: 'queued',
      attempts: 0,
      sentAt: null,
      reports: [],
    });
    for (const unknown of [`${later.id}-2`, later.id, '', `${id}-x`, `'; --`])
      await expect(app.sms.timeline(unknown)).rejects.toBeInstanceOf(MessageNotFoundError);
    await expect(app.sms.timeline(`${id}-1`, { tenant: 'other' })).rejects.toBeInstanceOf(
      MessageNotFoundError,
    );
  });
});

describeEachDatabase('unmatched reports', (database) => {
  it('unmatched reports are deleted after giveUpAfter', async () => {
    const app = await ReportsApp.start(database, { reports: { giveUpAfter: '1h' } });
    try {
      const id = await app.sent(TO);
      await app.hear(report({ reference: 'nobody-1' }), report({ messageId: 'nobody-2' }));
      await app.hear(report({ reference: 'nobody-3' }), report({ reference: `ref-${id}-s0` }));
      const hour = 3_600_000_000;
      await app.query(
        `UPDATE messaging_report SET received_at = received_at - ${hour} WHERE reference <> 'nobody-3' OR reference IS NULL`,
      );
      await app.reconcile();
      const left = await app.query<{ reference: string; batch: string | null }>(
        'SELECT reference, batch FROM messaging_report ORDER BY id',
      );
      expect(left.map(({ reference }) => reference)).toEqual([
        `ref-${id}-s0`,
        'nobody-3',
        `ref-${id}-s0`,
      ]);
    } finally {
      await app.close();
    }
  });

  it('the sweep visits every unmatched report', async () => {
    const app = await ReportsApp.start(database);
    try {
      const id = await app.sent(TO);
      for (let n = 0; n < 7; n++) await app.hear(report({ reference: `nobody-${n}` }));
      await app.query(
        `UPDATE messaging_report SET reference = 'ref-${id}-s0' WHERE reference = 'nobody-6'`,
      );
      await app.store.reports.sweep(3);
      await app.store.reports.sweep(3);
      expect(await app.counts(id)).toEqual({ sent: 1 });
      await app.store.reports.sweep(3);
      expect(await app.counts(id)).toEqual({ delivered: 1 });
      await app.query(
        `UPDATE messaging_report SET reference = 'ref-${id}-s0', status = 100 WHERE reference = 'nobody-0'`,
      );
      await app.store.reports.sweep(3);
      expect(await app.counts(id)).toEqual({ read: 1 });
    } finally {
      await app.close();
    }
  });
});
