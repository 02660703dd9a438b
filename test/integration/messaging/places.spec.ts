import { setTimeout } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { MessagingModule, SmsService } from '@dundun/messaging';
import type {
  ConnectionPlaces,
  MessageTransport,
  SubmissionAccepted,
} from '@dundun/messaging/ports';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

/** A provider that allows one connection over all processes, and answers requests with no report. */
class LimitedTransport implements MessageTransport {
  readonly name = 'limited';
  readonly capabilities = { maxRecipients: 100, idempotencyWindow: 0 };
  readonly requests = new Set<string>();
  readonly places: ConnectionPlaces;

  constructor(needed: number) {
    this.places = {
      needed,
      most: 1,
      connect: () => undefined,
      disconnect: () => Promise.resolve(),
    };
  }

  submit(): Promise<SubmissionAccepted> {
    this.requests.add('submit');
    return Promise.resolve({ reference: 'accepted' });
  }

  fetchReports(): Promise<[]> {
    this.requests.add('fetchReports');
    return Promise.resolve([]);
  }

  cancel(): Promise<[]> {
    this.requests.add('cancel');
    return Promise.resolve([]);
  }
}

/** Longer than the reconciliation and the search for due cancels take to come around twice. */
const TWO_ROUNDS = 6_000;

describeEachDatabase(
  'a process without its connections',
  (database) => {
    const start = async (transport: LimitedTransport): Promise<TestingModule> => {
      const app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
          MessagingModule.forRoot({
            transport: () => transport,
            reports: { pollAfter: 10 },
            callbackPath: false,
          }),
        ],
      }).compile();
      app.useLogger(false);
      return app.init();
    };
    const send = { from: 'ACME', to: '2348012345678', body: 'Hello' };

    it('sends nothing, polls no reports and carries out no cancels until it has them', async () => {
      const first = new LimitedTransport(1);
      let app = await start(first);
      const { id } = await app.get(SmsService).send(send);
      await eventually(async () =>
        expect((await app.get(SmsService).batch(id)).counts).toEqual({ sent: 1 }),
      );
      await app.close();

      const waiting = new LimitedTransport(2);
      app = await start(waiting);
      const sms = app.get(SmsService);
      await expect(sms.cancel(id)).rejects.toMatchObject({ code: 'already_sent' });
      await sms.send(send);
      await setTimeout(TWO_ROUNDS);
      expect([...waiting.requests]).toEqual([]);
      await app.close();

      const next = new LimitedTransport(1);
      app = await start(next);
      await eventually(async () =>
        expect([...next.requests].toSorted()).toEqual(['cancel', 'fetchReports', 'submit']),
      );
      await app.close();
    });
  },
  ['sqlite'],
);
