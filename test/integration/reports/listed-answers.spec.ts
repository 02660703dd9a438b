import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { MessagingModule, SmsService } from '@dundun/messaging';
import { MESSAGE_TRANSPORTS } from '@dundun/messaging/ports';
import { twilio } from '@dundun/messaging/twilio';
import { vonage } from '@dundun/messaging/vonage';
import { reconcileJob } from '../../../libs/messaging/src/jobs/reconcile.job.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TwilioServer } from '../../support/providers/twilio-server.js';
import { VonageServer } from '../../support/providers/vonage-server.js';

describeEachDatabase('a lost answer of a provider that lists its messages', (database) => {
  const server = new TwilioServer();
  const other = new VonageServer();
  let app: INestApplicationContext;
  let sms: SmsService;
  let to: string;
  let tests = 0;

  beforeAll(async () => {
    await Promise.all([server.listen(), other.listen()]);
    const module = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          providers: {
            listing: twilio(server.options),
            other: vonage({ ...other.options, reportsApi: true }),
          },
          routes: [{ from: 'VONAGE', use: 'other' }, { use: 'listing' }],
          callbackPath: false,
        }),
      ],
    }).compile();
    app = await module.init();
    sms = app.get(SmsService);
    // The tests say when to reconcile.
    app.get(SchedulerRegistry).deleteInterval('messaging.reconcile');
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([server.close(), other.close()]);
  });
  beforeEach(() => {
    to = String(2348012340000 + tests++);
  });

  const reconcile = async () => {
    await app
      .get(DataSource)
      .query('UPDATE messaging_batch SET poll_at = 1 WHERE poll_at IS NOT NULL');
    await reconcileJob(app.get(MessageStore), app.get(MESSAGE_TRANSPORTS)).run(
      new AbortController().signal,
    );
  };
  const counts = async (id: string) => (await sms.batch(id)).counts;
  const send = async (status: string, body = 'Hi', from = '2348000000001') => {
    const { id } = await sms.send({ to, from, body });
    await eventually(async () => expect(await counts(id)).toEqual({ [status]: 1 }));
    return id;
  };
  /** The provider has it, and its answer is lost. */
  const loseAnswer = (body?: string, from?: string) => {
    (from === 'VONAGE' ? other : server).loseNextAnswer();
    return send('unknown', body, from);
  };
  /** The provider does not have it, and nothing says so. */
  const loseRequest = (body?: string, from?: string) => {
    const double = from === 'VONAGE' ? other : server;
    double.answerAsProxy({ status: 502, body: '<html>' }, 'before acceptance');
    return send('unknown', body, from);
  };
  const lastId = () => server.taken.at(-1)!.sid;
  const references = async (id: string) => {
    const rows: { reference: string }[] = await app
      .get(DataSource)
      .query(`SELECT reference FROM messaging_report WHERE batch = '${id}'`);
    return new Set(rows.map(({ reference }) => reference));
  };

  it('a message that arrived is settled, followed, and not sent again', async () => {
    const before = server.taken.length;
    const id = await loseAnswer();
    await reconcile();
    expect(await counts(id)).toEqual({ sent: 1 });
    server.taken.at(-1)!.status = 'delivered';
    await reconcile();
    expect(await counts(id)).toEqual({ delivered: 1 });
    expect(await references(id)).toEqual(new Set([lastId()]));
    expect(server.taken).toHaveLength(before + 1);
  });

  it('a message that never arrived stays unknown, and is not sent again', async () => {
    const before = server.taken.length;
    const id = await loseRequest();
    await reconcile();
    await reconcile();
    expect(await counts(id)).toEqual({ unknown: 1 });
    expect(server.taken).toHaveLength(before);
  });

  it('two identical messages of which one arrived stay unknown', async () => {
    const ids = [await loseAnswer(), await loseRequest()];
    await reconcile();
    for (const id of ids) expect(await counts(id)).toEqual({ unknown: 1 });
  });

  it('two identical messages that both arrived are settled, each by its own', async () => {
    const first = await loseAnswer();
    const own = lastId();
    const second = await loseAnswer();
    server.mostOnPage = 1;
    await reconcile();
    server.mostOnPage = 1_000;
    for (const id of [first, second]) expect(await counts(id)).toEqual({ sent: 1 });
    expect(await references(first)).not.toEqual(await references(second));
    expect(new Set([...(await references(first)), ...(await references(second))])).toEqual(
      new Set([own, lastId()]),
    );
  });

  it('a message with an answer is not taken for an identical one without', async () => {
    const answered = await send('sent');
    const lost = await loseRequest();
    await reconcile();
    expect([await counts(answered), await counts(lost)]).toEqual([{ sent: 1 }, { unknown: 1 }]);
    const arrived = await loseAnswer('Hi again');
    await send('sent', 'Hi again');
    await reconcile();
    expect(await counts(arrived)).toEqual({ sent: 1 });
  });

  it('a message that a callback has settled is not taken for an identical one', async () => {
    const settled = await loseAnswer();
    const report = {
      submissionId: `${settled}-s0`,
      reference: lastId(),
      messageId: lastId(),
      recipient: to,
      status: 'sent' as const,
      rawStatus: 'sent',
      errorCode: null,
      providerTime: null,
    };
    await app.get(MessageStore).reports.record([report], { provider: 'listing' });
    expect(await counts(settled)).toEqual({ sent: 1 });
    const arrived = await loseAnswer();
    await reconcile();
    expect(await counts(arrived)).toEqual({ sent: 1 });
    const lost = await loseRequest();
    await reconcile();
    expect(await counts(lost)).toEqual({ unknown: 1 });
  });

  it('a message of another system with the same text leaves it unknown', async () => {
    const id = await loseAnswer();
    server.taken.push({ ...server.taken.at(-1)!, sid: `SM${'f'.repeat(32)}` });
    await reconcile();
    expect(await counts(id)).toEqual({ unknown: 1 });
    server.taken.pop();
  });

  it('a message whose text was erased, or that the provider changed, stays unknown', async () => {
    const changed = await loseAnswer();
    server.taken.at(-1)!.fields.set('Body', 'Sent from your trial account - Hi');
    await reconcile();
    expect(await counts(changed)).toEqual({ unknown: 1 });
    server.taken.at(-1)!.fields.set('Body', 'Hi');
    await app
      .get(DataSource)
      .query(`UPDATE messaging_batch SET content = NULL WHERE id = '${changed}'`);
    await reconcile();
    expect(await counts(changed)).toEqual({ unknown: 1 });
  });

  it('a variable of the recipient is part of the text', async () => {
    server.loseNextAnswer();
    const { id } = await sms.send({
      to: [{ to, variables: { code: '12' } }],
      from: '2348000000001',
      body: 'Hi {{code}}',
    });
    await eventually(async () => expect(await counts(id)).toEqual({ unknown: 1 }));
    await reconcile();
    expect(await counts(id)).toEqual({ sent: 1 });
  });

  it.each([
    [429, JSON.stringify({ code: 20429, message: 'Too Many Requests', status: 429 })],
    [503, '<html>'],
  ])(
    'a list that answers %i settles nothing, and is asked again at the next poll',
    async (status, body) => {
      const id = await loseAnswer();
      server.answer(({ method }, response) => {
        if (method !== 'GET') return false;
        return void response.writeHead(status).end(body);
      });
      await reconcile();
      expect(await counts(id)).toEqual({ unknown: 1 });
      server.answer(undefined);
      await reconcile();
      expect(await counts(id)).toEqual({ sent: 1 });
    },
  );

  describe('by our id', () => {
    it('of two identical messages the one that arrived is settled', async () => {
      const arrived = await loseAnswer('Hi', 'VONAGE');
      const never = await loseRequest('Hi', 'VONAGE');
      await reconcile();
      expect([await counts(arrived), await counts(never)]).toEqual([{ sent: 1 }, { unknown: 1 }]);
      other.records.at(-1)!.status = 'delivered';
      await reconcile();
      expect(await counts(arrived)).toEqual({ delivered: 1 });
      expect(other.taken).toHaveLength(1);
    });
  });
});
