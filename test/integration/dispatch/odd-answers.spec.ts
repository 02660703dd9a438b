import { afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type Submission,
  type SubmissionAccepted,
} from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ScriptedTransport } from './dispatch-fixture.js';

const LONG = 'long '.repeat(1_000);

/** Answers values that no column can store. */
class OddTransport extends ScriptedTransport {
  constructor(private readonly answer: () => unknown) {
    super();
  }

  override async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    await super.submit(submission, signal);
    return this.answer() as SubmissionAccepted;
  }
}

describeEachDatabase('an answer that cannot be stored', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const circle: Record<string, unknown> = {};
  circle['circle'] = circle;

  it.each<[string, object]>([
    ['a reference', { reference: LONG }],
    ['a reference with NUL', { reference: 'a\0b' }],
    ['a message id', { reference: 'r', messageIds: [LONG] }],
    ['details with NUL', { reference: 'r', details: { [LONG]: `${LONG}\0` } }],
    ['details that are no JSON', { reference: 'r', details: { cost: 1n } }],
    ['details without an end', { reference: 'r', details: circle }],
  ])(
    'an accepted answer with %s is recorded as accepted and delays no other message',
    async (_, answer) => {
      const { send, sms, transport } = await fixture.boot({}, new OddTransport(() => answer));
      const ids = await Promise.all([send('a'), send('b')]);
      for (const id of ids)
        await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
      expect(transport.started).toHaveLength(2);
    },
  );

  it('a refusal with an overlong code is recorded as a refusal', async () => {
    const { send, sms, transport } = await fixture.boot();
    const failures = [
      new RetryableFailure(`${LONG}\0`, LONG),
      new PermanentFailure(`${LONG}\0`, LONG),
    ];
    transport.script = () => {
      const failure = failures.shift();
      if (failure) throw failure;
    };
    const id = await send('x');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ rejected: 1 }));
    const { data } = await sms.messages(id);
    expect(data[0]?.errorCode).toHaveLength(64);
  });

  it.each([
    ['NUL', 'gone\0away'],
    ['half a pair', 'gone \ud83d'],
    ['too much', LONG],
  ])('a pause whose reason contains %s is shown', async (_, reason) => {
    const { send, sms, messaging, transport } = await fixture.boot();
    let away = true;
    transport.script = () => {
      if (away) throw new PausedFailure('unreachable', reason, 1_100);
    };
    const id = await send('x');
    await eventually(async () =>
      expect(await messaging.lanes()).toMatchObject([{ pauseReason: 'unreachable' }]),
    );
    away = false;
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
  });
});
