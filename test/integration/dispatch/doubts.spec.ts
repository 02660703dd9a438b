import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { simulator } from '@dundun/messaging';
import {
  type DeliveryReport,
  type SentSubmission,
  type Submission,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ScriptedTransport, textOf } from './dispatch-fixture.js';
import { intend, LANE } from './intend.js';

/** A provider that can be asked by our key. What it has accepted, it has a report of. */
class AskedTransport extends ScriptedTransport {
  readonly questions: (readonly SentSubmission[])[] = [];
  readonly taken = new Set<string>();
  answering: () => Promise<void> | void = () => undefined;

  constructor() {
    super({ maxRecipients: 10, idempotencyWindow: 3_600_000, reportsByKey: ['sms'] });
  }

  async fetchReports(submissions: readonly SentSubmission[]): Promise<readonly DeliveryReport[]> {
    this.questions.push(submissions);
    await this.answering();
    return submissions
      .filter(({ submissionId }) => this.taken.has(submissionId))
      .flatMap(({ submissionId, recipients }) =>
        recipients.map((recipient) => ({
          submissionId,
          reference: `ref-${submissionId}`,
          messageId: null,
          recipient,
          status: 'delivered' as const,
          rawStatus: 'delivered',
          errorCode: null,
          providerTime: new Date(),
        })),
      );
  }

  triesOf(text: string): Submission[] {
    return this.started.filter((submission) => textOf(submission) === text);
  }
}

describeOneDatabase('a submission whose answer is lost', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('a submission that its provider has a report of is accepted and is not sent again', async () => {
    const transport = new AskedTransport();
    const { sms } = await fixture.boot({}, transport);
    transport.script = ({ id }) => {
      transport.taken.add(id);
      throw new UncertainFailure('timeout', 'x');
    };
    const to = ['2348012345678', '2348012345679'];
    const { id } = await sms.send({ from: 'ACME', to, body: 'x' });
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 2 }));
    expect(transport.started).toHaveLength(1);
    const timeline = await sms.timeline(`${id}-0`);
    expect(timeline.reports.map(({ status, sequence }) => [status, sequence])).toEqual([
      ['sent', 1],
      ['delivered', 2],
    ]);
    expect(timeline.submissions).toMatchObject([{ outcome: 'accepted', errorCode: null }]);
  });

  it('a submission that its provider does not know is sent again under its key, and is unknown after maxAttempts tries', async () => {
    const transport = new AskedTransport();
    const { send, sms } = await fixture.boot({ maxAttempts: 4 }, transport);
    transport.script = () => {
      throw new UncertainFailure('timeout', 'No answer');
    };
    const id = await send('lost');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ unknown: 1 }));
    expect(transport.triesOf('lost').map((one) => [one.id, one.attempt])).toEqual(
      [1, 2, 3, 4].map((attempt) => [`${id}-s0`, attempt]),
    );
    expect(transport.questions).toHaveLength(4);
    expect(await sms.message(`${id}-0`)).toMatchObject({
      attempts: 4,
      errorCode: 'timeout',
      errorText: 'No answer',
    });
  });

  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    [
      'is answered later than the stop',
      () => new Promise<void>((resolve) => setTimeout(resolve, 60_000).unref()),
    ],
  ])('a submission is not lost where the poll for it %s', async (_, answering) => {
    const transport = new AskedTransport();
    const first = await fixture.boot({}, transport);
    transport.answering = answering;
    let lost = true;
    transport.script = () => {
      if (!lost) return;
      lost = false;
      throw new UncertainFailure('timeout', 'x');
    };
    const id = await first.send('x');
    await eventually(async () => expect(transport.questions.length).toBeGreaterThan(0));
    await first.app.close();
    transport.answering = () => undefined;
    const { sms } = await fixture.boot({}, transport);
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect(new Set(transport.started.map((submission) => submission.id)).size).toBe(1);
  });

  it('a lane with concurrency 1 keeps its order: it resends an uncertain submission without a poll', async () => {
    const transport = new AskedTransport();
    const { send } = await fixture.boot({ concurrency: 1, backoff: 100 }, transport);
    transport.answering = () => new Promise<void>(() => undefined);
    let lost = true;
    transport.script = () => {
      if (!lost) return;
      lost = false;
      throw new UncertainFailure('timeout', 'x');
    };
    for (const text of ['first', 'second']) await send(text);
    await eventually(async () => expect(transport.texts).toEqual(['first', 'second']));
    expect(transport.started.map(textOf)).toEqual(['first', 'first', 'second']);
    expect(transport.questions).toEqual([]);
  });

  it('a submission that a dead process left open is resent before later messages, without a poll', async () => {
    const transport = new AskedTransport();
    transport.answering = () => new Promise<void>(() => undefined);
    const dead = await fixture.boot({ dispatch: false }, transport);
    await dead.send('first');
    const { lease } = await intend(dead.store);
    await dead.store.lanes.release(LANE, lease.fence, null, true);
    await dead.send('second');
    await fixture.boot({}, transport);
    await eventually(async () => expect(transport.texts).toEqual(['first', 'second']));
    expect(transport.questions).toEqual([]);
  });

  it('the messages of a lane leave while a poll about another message has no answer', async () => {
    const transport = new AskedTransport();
    const { send, sms } = await fixture.boot({}, transport);
    transport.answering = () => new Promise<void>(() => undefined);
    transport.script = (submission) => {
      if (textOf(submission) === 'lost') throw new UncertainFailure('timeout', 'x');
    };
    await send('lost');
    await send('lost');
    await eventually(async () => expect(transport.questions.length).toBeGreaterThan(0));
    for (const text of ['a', 'b', 'c']) {
      const id = await send(text);
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    }
    expect(transport.triesOf('lost')).toHaveLength(2);
  });

  it('messages that stay in doubt do not hold back new messages', async () => {
    const transport = new AskedTransport();
    const { send, sms } = await fixture.boot({ backoff: '10m', maxAttempts: 1_000 }, transport);
    transport.script = (submission) => {
      if (textOf(submission) === 'lost') throw new UncertainFailure('timeout', 'x');
    };
    for (let n = 0; n < 5; n++) await send('lost');
    await eventually(async () =>
      expect(transport.triesOf('lost').length).toBeGreaterThanOrEqual(5),
    );
    const id = await send('new');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
  });

  it('with the simulator, 9908 is delivered and 9909 unknown, together and in lanes of their own', async () => {
    const { sms } = await fixture.boot({ transport: simulator({ reportDelay: 1 }), backoff: 20 });
    const sent = (tenant: string, to: string | string[]) =>
      sms.send({ from: 'ACME', to, body: 'x' }, { tenant });
    const numbers = ['2348012349908', '2348012349909'] as const;
    const lost = await sent('a', numbers[0]);
    const vanished = await sent('b', numbers[1]);
    const both = await sent('c', [...numbers]);
    const countsOf = async (tenant: string, { id }: { id: string }) =>
      (await sms.batch(id, { tenant })).counts;
    await eventually(async () => expect(await countsOf('a', lost)).toEqual({ delivered: 1 }));
    await eventually(async () => expect(await countsOf('b', vanished)).toEqual({ unknown: 1 }));
    await eventually(async () =>
      expect(await countsOf('c', both)).toEqual({ delivered: 1, unknown: 1 }),
    );
  });
});
