import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { MessagingModule, SmsService } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { PaperTransport } from '../reports/paper.transport.js';

const MESSAGES = 500;

interface Updates {
  readonly updates: string;
  readonly hot: string;
}

describeEachDatabase(
  'statuses on PostgreSQL',
  (database) => {
    let app: TestingModule;

    beforeAll(async () => {
      app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot(database.options()),
          MessagingModule.forRoot({ transport: () => new PaperTransport(), callbackPath: false }),
        ],
      }).compile();
      app.useLogger(false);
      await app.init();
    });
    afterAll(() => app.close());

    it('status updates on PostgreSQL are heap-only', async () => {
      const to = Array.from({ length: MESSAGES }, (_, i) => `23480${12_345_600 + i}`);
      await app.get(SmsService).send({ from: 'ACME', to, body: 'Hello' });
      // The server counts with some delay.
      await eventually(async () => {
        const [counted] = await app.get(DataSource).query<[Updates]>(
          `SELECT n_tup_upd AS updates, n_tup_hot_upd AS hot FROM pg_stat_user_tables
           WHERE relname = 'messaging_message'`,
        );
        expect(Number(counted.updates)).toBe(MESSAGES);
        expect(Number(counted.hot)).toBe(MESSAGES);
      });
    });
  },
  ['postgres'],
);
