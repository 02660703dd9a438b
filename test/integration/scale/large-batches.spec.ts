import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ScheduleModule } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { type ListedBatch, MessagingModule, SmsService } from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { DataSource } from 'typeorm';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { BATCH_STATE } from '../../../libs/messaging/src/store/rows/batch-state.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { PaperTransport } from '../reports/paper.transport.js';

const RECIPIENTS = 100_000;
const DONE = 12;
const FAR = new Date('2040-01-01T00:00:00Z');
const TO = Array.from({ length: RECIPIENTS }, (_, n) => String(2_348_000_000_000 + n));

describeEachDatabase(
  'a list whose newest batches have 100,000 recipients',
  (database) => {
    const paper = new PaperTransport();
    let app: TestingModule;
    let sms: SmsService;
    let source: DataSource;

    beforeAll(async () => {
      app = await Test.createTestingModule({
        imports: [
          ScheduleModule.forRoot(),
          TypeOrmModule.forRoot(database.options()),
          MessagingModule.forRoot({ transport: () => paper, callbackPath: false }),
        ],
      }).compile();
      await app.init();
      sms = app.get(SmsService);
      source = app.get(DataSource);
    });
    afterAll(() => app.close());

    const send = (to: readonly string[]) =>
      sms.send({ from: 'ACME', to, body: 'Hello', sendAt: FAR });

    /** All messages but the last have been sent; the dispatcher sends that one, and completes the batch. */
    async function almostDone(id: string): Promise<void> {
      await source.query(
        `INSERT INTO messaging_submission (batch, n, first_position, last_position, attempt, fence, provider, first_sent_at, outcome, reference)
         VALUES (?, 0, 0, ?, 1, 0, 'paper', 0, 1, ?)`,
        [id, RECIPIENTS - 2, `first-${id}`],
      );
      await source.query(
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO messaging_message (batch, position, submission, status, attempt, sequence, recipient)
         SELECT ?, i, 0, ?, 1, 1, 2348000000000 + i FROM n`,
        [RECIPIENTS - 2, id, STATUS_RANK.sent],
      );
      await source.query(
        'UPDATE messaging_batch SET state = ?, send_at = NULL, available_at = 1 WHERE id = ?',
        [BATCH_STATE.sending, id],
      );
    }

    it('fills its page: completed ones with their counts, also after later reports, those at work without', async () => {
      const ids: string[] = [];
      for (let n = 0; n < DONE; n++) {
        const { id } = await send(TO);
        ids.push(id);
        await almostDone(id);
      }
      await eventually(async () => {
        for (const id of ids) expect((await sms.batch(id)).status).toBe('completed');
      });
      const { id: waiting } = await send(TO);
      const { id: small } = await send(TO.slice(0, 2));
      const [reported = ''] = ids;
      const report = {
        reference: `first-${reported}`,
        messageId: null,
        recipient: TO[7] ?? null,
        status: 'delivered' as const,
        rawStatus: 'DELIVRD',
        errorCode: null,
        providerTime: null,
      };
      // The second one changes nothing.
      for (let n = 0; n < 2; n++)
        await app.get(MessageStore).reports.record([report], { provider: 'paper' });
      const expected: [id: string, counts: ListedBatch['counts']][] = [
        [small, { queued: 2 }],
        [waiting, null],
        ...ids
          .slice(1)
          .toReversed()
          .map((id): (typeof expected)[0] => [id, { sent: RECIPIENTS }]),
        [reported, { sent: RECIPIENTS - 1, delivered: 1 }],
      ];
      const shown = ({ data }: { readonly data: readonly ListedBatch[] }) =>
        data.map(({ id, counts }) => [id, counts]);
      const page = await sms.batches({ limit: 100 });
      expect(shown(page)).toEqual(expected);
      expect(page.nextCursor).toBeNull();
      expect(shown(await app.get(MessageHistory).batches({ limit: 100 }))).toEqual(expected);
      expect((await sms.batch(waiting)).counts).toEqual({ queued: RECIPIENTS });
    }, 120_000);

    it('deliveries() has the status of each recipient, started or not, in pages', async () => {
      const { data: batches } = await sms.batches({ limit: 100 });
      const [newest, reported] = [batches[0]?.id ?? '', batches.at(-1)?.id ?? ''];
      const { data: waiting, nextCursor } = await sms.deliveries(newest, { limit: 10 });
      expect(waiting).toEqual(
        TO.slice(0, 2).map((recipient, position) => ({
          id: `${newest}-${position}`,
          batchId: newest,
          position,
          recipient,
          status: 'queued',
          errorCode: null,
          attempts: 0,
          deferredUntil: null,
        })),
      );
      expect(nextCursor).toBeNull();
      const first = await sms.deliveries(reported, { limit: 7 });
      const second = await sms.deliveries(reported, { limit: 2, cursor: String(first.nextCursor) });
      expect(second.data.map(({ recipient, status }) => [recipient, status])).toEqual([
        [TO[7], 'delivered'],
        [TO[8], 'sent'],
      ]);
    });
  },
  ['sqlite'],
);
