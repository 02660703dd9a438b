import { afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type Submission,
  type SubmissionAccepted,
  type TransportCapabilities,
} from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ScriptedTransport } from './dispatch-fixture.js';

const LONG = 'long '.repeat(1_000);

/** Answers values that no column can store. */
class OddTransport extends ScriptedTransport {
  constructor(
    private readonly answer: () => unknown,
    capabilities?: TransportCapabilities,
  ) {
    super(capabilities);
  }

  override async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    await super.submit(submission, signal);
    return this.answer() as SubmissionAccepted;
  }
}

describeOneDatabase('an answer that cannot be stored', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const circle: Record<string, unknown> = {};
  circle['circle'] = circle;

  it.each<[string, object]>([
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

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'no answer'],
    ['no reference', {}, 'wrong reference'],
    ['a number as reference', { reference: 7 }, 'wrong reference'],
    ['an overlong reference', { reference: LONG }, 'wrong reference'],
    ['a reference with NUL', { reference: 'a\0b' }, 'wrong reference'],
    ['a number as message id', { reference: 'r', messageIds: [7] }, 'wrong messageIds[0]'],
    ['an overlong message id', { reference: 'r', messageIds: [LONG] }, 'wrong messageIds[0]'],
    ['too many message ids', { reference: 'r', messageIds: ['a', 'b'] }, '2 messageIds for 1'],
    ['too few message ids', { reference: 'r', messageIds: [] }, '0 messageIds for 1'],
    ['message ids of no array', { reference: 'r', messageIds: 'a' }, 'wrong messageIds'],
    ['refusals of no map', { reference: 'r', rejected: {} }, 'wrong rejected'],
  ])(
    'an answer with %s is uncertain, named in the log, and delays no other message',
    async (_, answer, named) => {
      const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
      const odd: OddTransport = new OddTransport(
        () => (odd.started.length === 1 ? answer : { reference: 'r' }),
        {
          maxRecipients: 1,
          idempotencyWindow: 0,
        },
      );
      const { send, sms } = await fixture.boot({ concurrency: 1 }, odd);
      const ids = [await send('a'), await send('b')] as const;
      await eventually(async () => expect((await sms.batch(ids[1])).counts).toEqual({ sent: 1 }));
      expect((await sms.batch(ids[0])).counts).toEqual({ unknown: 1 });
      expect((await sms.messages(ids[0])).data[0]?.errorCode).toBe('invalid_answer');
      const lines = warn.mock.calls.map(([line]) => String(line)).join('\n');
      expect(lines).toMatch(/invalid_answer: submit\(\) of the transport scripted/);
      expect(lines).toContain(named);
      warn.mockRestore();
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
