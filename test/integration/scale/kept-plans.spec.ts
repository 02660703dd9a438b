import { beforeAll, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { MessagingModule, SmsService } from '@dundun/messaging';
import { RetryableFailure } from '@dundun/messaging/ports';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { StoreDatabase } from '../../../libs/messaging/src/store/database/store-database.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { fillStore } from '../../support/filled-store.js';
import { PaperTransport } from '../reports/paper.transport.js';
import { wholeReads, wholeReadsKept } from './query-plan.js';
import { type Statement, StatementRecorder } from './statement-recorder.js';

const TABLES = ['lane', 'batch', 'batch_chunk', 'submission', 'message', 'report'];
const TO = Array.from({ length: 20 }, (_, i) => `23480${12_345_600 + i}`);

class Undone extends Error {}

describeEachDatabase(
  'plans that were kept while the store grew from nothing to 200,000 messages',
  (database) => {
    let source: DataSource;
    let store: StoreDatabase;
    let statements: readonly Statement[];

    beforeAll(async () => {
      statements = await statementsOfAnApp();
      // One connection, whose kept plans the test reads.
      source = await database.open({ extra: { max: 1 } });
      store = databaseOf(source);
      for (const table of TABLES) {
        await source.query(`TRUNCATE messaging_${table}`);
        await source.query(`ALTER TABLE messaging_${table} SET (autovacuum_enabled = false)`);
      }
    });

    /** The statements of an app that sends, tries again, is told of deliveries and reads back. */
    async function statementsOfAnApp(): Promise<readonly Statement[]> {
      const recorder = new StatementRecorder();
      const paper = new PaperTransport();
      const app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), logger: recorder }),
          MessagingModule.forRoot({
            transport: () => paper,
            callbackPath: false,
            dispatch: { backoff: 1 },
          }),
        ],
      }).compile();
      app.useLogger(false);
      await app.init();
      let tries = 0;
      paper.answer = ({ id }) => {
        if (++tries === 1) throw new RetryableFailure('busy', 'try again');
        return { reference: `ref-${id}` };
      };
      const sms = app.get(SmsService);
      recorder.forget();
      for (const body of ['first', 'second']) {
        const { id } = await sms.send({ from: 'ACME', to: TO, body });
        await eventually(async () =>
          expect(await sms.batch(id)).toMatchObject({ status: 'completed' }),
        );
        await app.get(MessageStore, { strict: false }).reports.record(
          TO.map((recipient, position) => ({
            reference: null,
            messageId: `${id}-${position}`,
            recipient,
            status: 'delivered',
            rawStatus: 'DELIVRD',
            errorCode: null,
            providerTime: null,
          })),
          { provider: 'paper' },
        );
      }
      await app.close();
      return recorder.statements;
    }

    /** Each statement so many times, undone: the tables stay as they are. */
    async function run(times: number): Promise<void> {
      for (const { sql, params } of statements)
        for (let time = 0; time < times; time++)
          await store
            .transaction(async (tx) => {
              await tx.all(sql, params);
              throw new Undone();
            })
            // Some find the rows of their first run; they are planned all the same.
            .catch(() => undefined);
    }

    /** Statements whose kept plan reads a table whole that a plan for these very parameters would not. */
    async function worseKept(): Promise<string[]> {
      const worse: string[] = [];
      for (const statement of statements) {
        const once = await wholeReads(source, 'postgres', statement);
        for (const table of await wholeReadsKept(source, statement))
          if (!once.includes(table)) worse.push(`${table}: ${statement.sql}`);
      }
      return worse;
    }

    it('no kept plan scans a grown table', async () => {
      await run(16);
      await fillStore(source, 'postgres', {
        batches: 4_000,
        recipients: 50,
        lanes: 10_000,
        scheduled: 5_000,
        unseen: true,
      });
      expect(await worseKept()).toEqual([]);
    });
  },
  ['postgres'],
);
