import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { STATUS_RANK } from '../../libs/messaging/src/message/status.js';
import { describeEachDatabase } from '../support/databases.js';
import { CompiledSources } from './compiled-sources.js';
import { CONCURRENCY, type KilledBatch, MailBatch, RECIPIENTS } from './mail-batch.js';
import type { Point } from './processes/protocol.js';

const full = process.env['CHAOS'] === 'full';

/** Points at which processes die, one after the other, in the middle of the batch. */
const KILLS: readonly Point[] = full
  ? [
      'on-the-wire',
      'response-read',
      'before-outcome',
      'after-intent',
      'before-intent',
      'after-outcome',
    ]
  : ['on-the-wire', 'before-outcome'];

describeEachDatabase(
  'kill -9 in the middle of a batch of 1,000 emails',
  (database) => {
    let sources: CompiledSources;
    let store: DataSource;
    let batch: MailBatch | undefined;

    beforeAll(async () => {
      sources = await CompiledSources.make();
      store = await database.open();
    });
    afterEach(() => batch?.stop());

    async function killed(onUncertain: 'unknown' | 'resend'): Promise<KilledBatch> {
      batch = new MailBatch(sources, store, { database: database.url, onUncertain });
      return batch.killedAt(KILLS);
    }

    /** Every recipient has its message, in order, and every copy the Message-ID of its message. */
    function expectNoneLost({ id, recipients, rows, copies, passed }: KilledBatch): void {
      expect(passed).toEqual([]);
      expect(rows.map(({ recipient }) => recipient).toSorted()).toEqual(recipients.toSorted());
      const given = rows.flatMap(({ recipient, position }) =>
        (copies.get(recipient) ?? []).map(({ messageId }) => [messageId, position] as const),
      );
      expect(given.filter(([name, n]) => name !== `${id}-${n}@shop.example`)).toEqual([]);
    }

    it('each email is sent once, and those in flight at a kill are unknown and not repeated', async () => {
      const after = await killed('unknown');
      expectNoneLost(after);
      const { rows, copies, interrupted } = after;
      const copiesOf = (recipient: string) => copies.get(recipient)?.length ?? 0;
      const sent = rows.filter(({ status }) => status === STATUS_RANK.sent);
      const unknown = rows.filter(({ status }) => status === STATUS_RANK.unknown);
      expect(sent.length + unknown.length).toBe(RECIPIENTS);
      expect(sent.filter(({ recipient }) => copiesOf(recipient) !== 1)).toEqual([]);
      expect(unknown.filter(({ recipient }) => copiesOf(recipient) > 1)).toEqual([]);
      expect(unknown.filter(({ submission }) => !interrupted.has(submission))).toEqual([]);
      expect(unknown.length).toBeGreaterThan(0);
      expect(unknown.length).toBeLessThanOrEqual(KILLS.length * CONCURRENCY);
    });

    it('with onUncertain resend, each email is sent, and only those in flight at a kill again, with the same bytes', async () => {
      const after = await killed('resend');
      expectNoneLost(after);
      const { rows, copies, interrupted } = after;
      expect(rows.filter(({ status }) => status !== STATUS_RANK.sent)).toEqual([]);
      expect(rows.filter(({ recipient }) => !copies.has(recipient))).toEqual([]);
      const repeated = rows.filter(({ recipient }) => (copies.get(recipient)?.length ?? 0) > 1);
      expect(repeated.filter(({ submission }) => !interrupted.has(submission))).toEqual([]);
      expect(repeated.length).toBeGreaterThan(0);
      for (const { recipient } of repeated) {
        const own = copies.get(recipient) ?? [];
        expect(own.length).toBeLessThanOrEqual(1 + KILLS.length);
        expect(new Set(own.map(({ digest }) => digest)).size).toBe(1);
      }
    });
  },
  full ? ['sqlite', 'postgres', 'mariadb'] : ['sqlite', 'postgres'],
);
