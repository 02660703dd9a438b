import { afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  PausedFailure,
  RetryableFailure,
  type Submission,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, Gate, ScriptedTransport, textOf } from './dispatch-fixture.js';

describeOneDatabase('a lane', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('a cancelled message is not sent at whatever point the cancel meets the drain', async () => {
    const transport = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: 3_600_000 });
    const { sms } = await fixture.boot({ concurrency: 2 }, transport);
    const to = Array.from({ length: 40 }, (_, i) => String(2348010000000 + i));
    for (let round = 0; round < 8; round++) {
      transport.started.length = 0;
      const reached = new Gate();
      transport.script = async () => {
        if (transport.started.length >= 1 + round * 4) reached.open();
        await new Promise((resolve) => setImmediate(resolve));
      };
      const { id } = await sms.send({ from: 'ACME', to, body: 'cancel me' });
      await reached.opened;
      const stopped = await sms.cancel(id).catch(() => undefined);
      const cancelled = stopped?.counts.cancelled ?? 0;
      await eventually(async () => {
        const { counts } = await sms.batch(id);
        expect((counts.sent ?? 0) + (counts.cancelled ?? 0)).toBe(to.length);
      });
      const { counts } = await sms.batch(id);
      expect(counts.cancelled ?? 0).toBeGreaterThanOrEqual(cancelled);
      expect(new Set(transport.started.flatMap(({ recipients }) => recipients)).size).toBe(
        counts.sent ?? 0,
      );
      expect(transport.started).toHaveLength(counts.sent ?? 0);
    }
  });

  it('a lane keeps its order when a refused request is retried', async () => {
    const { send, transport } = await fixture.boot({ concurrency: 1 });
    const refusals = new Map([
      ['3', new RetryableFailure('unavailable', 'x')],
      ['6', new PausedFailure('throttled', 'x', 5)],
      ['9', new UncertainFailure('timeout', 'x')],
    ]);
    transport.script = (submission) => {
      const refusal = refusals.get(textOf(submission));
      refusals.delete(textOf(submission));
      if (refusal) throw refusal;
    };
    const texts = Array.from({ length: 12 }, (_, i) => String(i));
    for (const text of texts) await send(text);
    await eventually(async () => expect(transport.texts).toEqual(texts));
  });

  it('each message is sent once when many requests in flight are refused together', async () => {
    const { sms, transport } = await fixture.boot({ concurrency: 8 });
    let failures = 10;
    transport.script = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      if (failures-- > 0) throw new RetryableFailure('unavailable', 'x');
    };
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        sms
          .send({ from: 'ACME', to: '2348012345678', body: String(i) })
          .then((receipt) => receipt.id),
      ),
    );
    await eventually(async () => expect(transport.accepted).toHaveLength(60));
    expect(new Set(transport.texts).size).toBe(60);
    for (const id of ids)
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
  });

  it.each([
    ['refuses', new RetryableFailure('http_503', 'x'), 'failed'],
    ['loses', new UncertainFailure('http_500', 'x'), 'unknown'],
  ])(
    'other batches overtake a batch that the provider always %s, which is given up in the end',
    async (_, failure, status) => {
      const { send, sms, transport } = await fixture.boot({ concurrency: 4, maxAttempts: 3 });
      // Alone in its lane it would be tried as long as the others take to come.
      const all = new Gate();
      transport.script = async (submission) => {
        await all.opened;
        if (textOf(submission) === 'poison') throw failure;
      };
      const before = await send('before');
      const poison = await send('poison');
      const after = await Promise.all(Array.from({ length: 10 }, (__, i) => send(`after ${i}`)));
      all.open();
      await eventually(async () =>
        expect((await sms.batch(poison)).counts).toEqual({ [status]: 1 }),
      );
      for (const id of [before, ...after])
        await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
      const tries = transport.started.filter((submission) => textOf(submission) === 'poison');
      expect(tries.length).toBeGreaterThanOrEqual(3);
      expect(tries.length).toBeLessThan(12);
    },
  );

  it.each([
    ['refused', new RetryableFailure('http_503', 'x')],
    ['uncertain', new UncertainFailure('http_500', 'x')],
    ['unreachable', new PausedFailure('unreachable', 'x')],
  ])('an outage (%s) uses no attempts', async (_, failure) => {
    const { send, sms, transport } = await fixture.boot({ concurrency: 4, maxAttempts: 2 });
    let away = true;
    const all = new Gate();
    transport.script = async () => {
      await all.opened;
      if (away) throw failure;
    };
    const ids = [await send('a'), await send('b'), await send('c')];
    all.open();
    await eventually(async () => expect(transport.started.length).toBeGreaterThan(7));
    away = false;
    for (const id of ids)
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect(transport.texts.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('a lane pauses while the credential is refused, names the reason, and resumes by itself', async () => {
    const { send, messaging, transport } = await fixture.boot();
    let token = 'old';
    transport.script = () => {
      if (token === 'old') throw new PausedFailure('unauthorized', 'x', 20);
    };
    await send('waits');
    await eventually(async () =>
      expect(await messaging.lanes()).toMatchObject([
        { lane: ':sms', pauseReason: 'unauthorized' },
      ]),
    );
    token = 'new';
    await eventually(async () => expect(transport.texts).toEqual(['waits']));
    await eventually(async () => expect(await messaging.lanes()).toEqual([]));
  });

  it('a lane starts messages by due time and priority and never an expired one', async () => {
    const quiet = await fixture.boot({ dispatch: false });
    const hour = Date.now() + 3_600_000;
    const timed = (body: string, sendAt: number) =>
      quiet.sms.send({ from: 'ACME', to: '2348012345678', body, sendAt: new Date(sendAt) });
    await timed('third', hour + 1);
    await timed('second', hour);
    await quiet.send('campaign 1');
    await quiet.send('campaign 2');
    await quiet.send('password', { class: 'high' });
    const late = await quiet.send('too late', { validFor: 1 });
    // The hour is over.
    await quiet.app.get(DataSource).query(
      `UPDATE messaging_batch SET available_at = available_at - ${(hour - Date.now() - 5) * 1_000},
         send_at = NULL WHERE send_at IS NOT NULL`,
    );
    const { sms, transport } = await fixture.boot({ concurrency: 1 });
    await eventually(async () => expect((await sms.batch(late)).counts).toEqual({ expired: 1 }));
    await eventually(async () => expect(transport.texts).toHaveLength(5));
    expect(transport.texts).toEqual(['password', 'campaign 1', 'campaign 2', 'second', 'third']);
  });

  it('a high-priority message passes a running campaign', async () => {
    const transport = new ScriptedTransport({ maxRecipients: 10, idempotencyWindow: 3_600_000 });
    const { sms, send, store } = await fixture.boot({ concurrency: 1 }, transport);
    const countOf = async (what: string) => {
      const [row] = await store.database.all<{ n: string | number }>(
        `SELECT count(${what}) AS n FROM messaging_submission`,
      );
      return Number(row?.n);
    };
    const begun = new Gate();
    const accepted = new Gate();
    transport.script = async () => {
      if (transport.started.length < 3) return;
      begun.open();
      await accepted.opened;
    };
    const to = Array.from({ length: 5_000 }, (_, i) => String(2348010000000 + i));
    const { id } = await sms.send({ from: 'ACME', to, body: 'campaign' });
    await begun.opened;
    // Prefetch while no request ends.
    for (let known = 0, found = 1; known < found;) {
      known = found;
      for (let n = 0; n < 20; n++) found = await countOf('*');
    }
    await send('password', { class: 'high' });
    accepted.open();
    await eventually(async () => expect(transport.texts).toContain('password'));
    expect(transport.texts.indexOf('password')).toBeLessThan(250);
    // A fast provider gets large slices. The submissions of a slice have one time.
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 5_000 }));
    expect(await countOf('DISTINCT first_sent_at')).toBeLessThan(250);
  });

  it("a clean stop finishes the lane's requests and releases it at once", async () => {
    const first = await fixture.boot({ concurrency: 2 });
    const answer = new Gate();
    first.transport.script = () => answer.opened;
    const ids = await Promise.all(Array.from({ length: 6 }, (_, i) => first.send(String(i))));
    await eventually(async () => expect(first.transport.started).toHaveLength(2));
    const second = await fixture.boot({ concurrency: 2 });
    const closing = first.app.close();
    // Submissions that did not start are withdrawn before those in flight are answered.
    const waiting = async () => {
      const views = await Promise.all(ids.map((id) => second.sms.batch(id)));
      return views.filter(({ counts }) => counts.queued === 1).length;
    };
    await eventually(async () => expect(await waiting()).toBe(4));
    answer.open();
    await closing;
    await eventually(async () => expect(second.transport.accepted).toHaveLength(4));
    for (const id of ids)
      await eventually(async () =>
        expect((await second.sms.batch(id)).counts).toEqual({ sent: 1 }),
      );
    const all = [...first.transport.texts, ...second.transport.texts];
    expect(new Set(all).size).toBe(6);
    expect(all).toHaveLength(6);
  });

  it('a request that a stop could not wait for is resent by the next holder under the same key', async () => {
    // A busy machine may not release the lane in time; then its lease ends.
    const lease = '10s';
    const first = await fixture.boot({ shutdownTimeout: 20, lease });
    first.transport.script = (_submission: Submission, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new UncertainFailure('aborted', 'x')));
      });
    const id = await first.send('hangs');
    await eventually(async () => expect(first.transport.started).toHaveLength(1));
    const second = await fixture.boot({ lease });
    await first.app.close();
    await eventually(async () => expect((await second.sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect(second.transport.started[0]?.id).toBe(first.transport.started[0]?.id);
    expect(second.transport.started[0]?.firstSentAt).toEqual(
      first.transport.started[0]?.firstSentAt,
    );
  });
});
