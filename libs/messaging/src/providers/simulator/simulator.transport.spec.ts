import { afterEach, describe, expect, it } from '@jest/globals';
import { transportContext } from '../../../../../test/support/transport-context.js';
import {
  MessagingConfigError,
  PausedFailure,
  LostAnswerFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { DeliveryReport } from '../../message/events.js';
import { type Clock, systemClock } from '../../ports/clock.js';
import type { Duration } from '../../ports/option-schema.js';
import type { ReportSink, Submission } from '../../ports/message-transport.js';
import {
  simulator,
  type SimulatorOptions,
  type SimulatorTransport,
} from './simulator.transport.js';

const signal = new AbortController().signal;
const number = (digits: number | string) => `23480123${digits}`;
const started: SimulatorTransport[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((made) => made.beforeApplicationShutdown()));
});

function transport(options: SimulatorOptions = { reportDelay: 1 }, clock: Clock = systemClock) {
  const made = simulator(options)(transportContext({ clock })) as SimulatorTransport;
  started.push(made);
  return made;
}

function submissionTo(...recipients: string[]): Submission {
  const batchId = systemClock.id();
  return {
    id: `${batchId}-s0`,
    batchId,
    tenant: '',
    channel: 'sms',
    sender: 'ACME',
    content: { kind: 'text', text: 'x' },
    recipients,
    deliveryReport: true,
    attempt: 1,
    dueAt: new Date(1_790_000_000_000),
    firstSentAt: new Date(1_790_000_000_000),
  };
}

/** A sink that resolves `all` once it has `count` reports. */
function collector(count: number) {
  const reports: DeliveryReport[] = [];
  let full!: () => void;
  const all = new Promise<void>((resolve) => (full = resolve));
  const sink: ReportSink = async (taken) => {
    reports.push(...taken);
    if (reports.length >= count) full();
  };
  return { reports, all, sink };
}

const asked = (
  { id, channel, recipients, firstSentAt }: Submission,
  reference: string | null = null,
) => [{ submissionId: id, channel, reference, recipients, firstSentAt }];

/** Polls until the reports' time has come: it lies within 50 ms after the submission first left. */
async function polled(made: SimulatorTransport, submission: Submission, count: number) {
  for (;;) {
    const reports = await made.fetchReports(asked(submission));
    if (reports.length >= count) return reports;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a recipient ending in', () => {
  it.each([
    ['1234', 'delivered', 'DELIVRD', null],
    ['9901', 'undelivered', 'UNDELIV', 'absent_subscriber'],
    ['9902', 'expired', 'EXPIRED', 'validity_expired'],
    ['9904', 'delivered', 'DELIVRD', null],
    ['9910', 'delivered', 'DELIVRD', null],
  ])('…%s is pushed as %s', async (digits, status, rawStatus, errorCode) => {
    const made = transport();
    const { reports, all, sink } = collector(1);
    made.listen(sink);
    const { reference } = await made.submit(submissionTo(number(digits)), signal);
    await all;
    expect(reports).toMatchObject([
      { reference, recipient: number(digits), status, rawStatus, errorCode },
    ]);
  });

  it('…9903 is refused at submit', async () => {
    const made = transport();
    for (const to of [[number(9903)], [number(9903), `9${number(9903)}`]]) {
      const refused = made.submit(submissionTo(...to), signal);
      await expect(refused).rejects.toBeInstanceOf(PermanentFailure);
      await expect(refused).rejects.toMatchObject({ code: 'destination_refused' });
    }
  });

  it('…9903 among others is refused alone', async () => {
    const made = transport();
    const { reports, all, sink } = collector(1);
    made.listen(sink);
    const accepted = await made.submit(submissionTo(number(9903), number(1111)), signal);
    expect(accepted.rejected).toEqual(new Map([[number(9903), 'destination_refused']]));
    await all;
    expect(reports.map(({ recipient }) => recipient)).toEqual([number(1111)]);
  });

  it('…9904 is reported before the answer', async () => {
    const made = transport({ reportDelay: '1h' });
    const order: string[] = [];
    made.listen(async (reports) => {
      await new Promise(setImmediate);
      order.push(`report ${reports[0]?.status}`);
    });
    await made.submit(submissionTo(number(9904)), signal);
    order.push('answer');
    expect(order).toEqual(['report delivered', 'answer']);
  });

  it('…9904 aborted during its report is uncertain', async () => {
    const made = transport();
    const giveUp = new AbortController();
    made.listen(async () => giveUp.abort());
    await expect(made.submit(submissionTo(number(9904)), giveUp.signal)).rejects.toBeInstanceOf(
      UncertainFailure,
    );
  });

  it('…9905 is reported twice and out of order', async () => {
    const made = transport();
    const { reports, all, sink } = collector(3);
    made.listen(sink);
    await made.submit(submissionTo(number(9905)), signal);
    await all;
    expect(reports.map(({ status }) => status)).toEqual(['delivered', 'sent', 'delivered']);
    expect(reports[0]).toEqual(reports[2]);
    expect(reports[1]?.providerTime?.getTime()).toBeLessThan(
      reports[0]?.providerTime?.getTime() ?? 0,
    );
  });

  it('…9906 is only found by a poll', async () => {
    const made = transport();
    const others = Array.from({ length: 50 }, (_, index) => number(1000 + index));
    const { reports, all, sink } = collector(others.length);
    made.listen(sink);
    const submission = submissionTo(number(9906), ...others);
    await made.submit(submission, signal);
    await all;
    expect(reports.map(({ recipient }) => recipient)).not.toContain(number(9906));
    const found = await polled(made, submission, 51);
    expect(found).toContainEqual(
      expect.objectContaining({ recipient: number(9906), status: 'delivered' }),
    );
  });

  it('…9907 is throttled once under any id', async () => {
    const made = transport();
    const { all, sink } = collector(2);
    made.listen(sink);
    const submission = submissionTo(number(9907), number(1111));
    const throttled = made.submit(submission, signal);
    await expect(throttled).rejects.toBeInstanceOf(PausedUncertainFailure);
    await expect(throttled).rejects.toMatchObject({ code: 'throttled', retryAfter: 100 });
    await made.submit({ ...submission, id: `${submission.batchId}-s1` }, signal);
    await all;
  });

  it('…9907 is delivered also after a restart', async () => {
    const submission = submissionTo(number(9907));
    await expect(transport().submit(submission, signal)).rejects.toBeInstanceOf(
      PausedUncertainFailure,
    );
    const restarted = transport();
    const { all, sink } = collector(1);
    restarted.listen(sink);
    await expect(restarted.submit(submission, signal)).rejects.toBeInstanceOf(
      PausedUncertainFailure,
    );
    await restarted.submit(submission, signal);
    await all;
    await transport().submit({ ...submission, attempt: 2 }, signal);
  });

  it.each([
    ['9908', ['delivered']],
    ['9909', []],
  ])('…%s never gets an answer and a poll finds %j', async (digits, found) => {
    const made = transport();
    const { reports, sink } = collector(1);
    made.listen(sink);
    const submission = submissionTo(number(digits));
    for (const attempt of [1, 2, 3])
      await expect(made.submit({ ...submission, attempt }, signal)).rejects.toBeInstanceOf(
        UncertainFailure,
      );
    const polledReports = await polled(made, submission, found.length);
    expect(polledReports.map(({ status }) => status)).toEqual(found);
    expect(reports).toEqual([]);
  });
});

describe('a submission with several simulated outcomes', () => {
  it('a lost answer for one recipient loses the answer of the whole submission, and a poll finds all but …9909', async () => {
    const made = transport();
    const { reports, sink } = collector(1);
    made.listen(sink);
    const submission = submissionTo(
      number(1111),
      number(9901),
      number(9903),
      number(9904),
      number(9908),
      number(9909),
    );
    await expect(made.submit(submission, signal)).rejects.toBeInstanceOf(UncertainFailure);
    const found = await polled(made, submission, 5);
    expect(found.map(({ recipient, status }) => [recipient?.slice(-4), status])).toEqual([
      ['1111', 'delivered'],
      ['9901', 'undelivered'],
      ['9903', 'rejected'],
      ['9904', 'delivered'],
      ['9908', 'delivered'],
    ]);
    expect(reports).toEqual([]);
  });

  it('a mixed submission is throttled first', async () => {
    const made = transport();
    const submission = submissionTo(number(9907), number(9908), number(9903));
    await expect(made.submit(submission, signal)).rejects.toBeInstanceOf(PausedUncertainFailure);
    await expect(made.submit(submission, signal)).rejects.toBeInstanceOf(UncertainFailure);
  });
});

describe('after a kill', () => {
  it('the same submission has the same reference and reports after a restart', async () => {
    const submission = submissionTo(number(1), number(9901), number(9904), number(9905));
    const lives = await Promise.all(
      ['1ms', '3ms'].map(async (reportDelay) => {
        const made = transport({ reportDelay: reportDelay as Duration });
        const { reports, all, sink } = collector(6);
        made.listen(sink);
        const { reference } = await made.submit(submission, signal);
        await all;
        return { reference, reports: new Set(reports.map((report) => JSON.stringify(report))) };
      }),
    );
    expect(lives[1]).toEqual(lives[0]);
    expect(lives[0]?.reports.size).toBe(5);
    const found = await polled(transport(), submission, 5);
    expect(
      new Set(found.map((report) => JSON.stringify({ ...report, submissionId: undefined }))),
    ).toEqual(lives[0]?.reports);
  });

  it('different submissions have different references', async () => {
    const made = transport();
    const [one, two] = [submissionTo(number(1)), submissionTo(number(1))];
    const first = await made.submit(one, signal);
    const second = await made.submit(two, signal);
    expect(first.reference).not.toBe(second.reference);
  });
});

describe('an email to', () => {
  const email = (...recipients: string[]): Submission => ({
    ...submissionTo(...recipients),
    channel: 'email',
    sender: 'shop@shop.example',
    content: { kind: 'email', from: { email: 'shop@shop.example' }, subject: 'x', text: 'x' },
  });
  const bounced = (code: string, category: string) => [
    'bounced',
    code,
    expect.objectContaining({ category, enhanced_code: code }),
  ];
  const delivered = ['delivered', null, undefined];

  it.each([
    ['Ada@', [delivered]],
    ['bounced@', [bounced('5.1.1', 'recipient')]],
    ['full@', [bounced('5.2.2', 'mailbox_full')]],
    ['blocked@', [bounced('5.7.1', 'block')]],
    ['complained@', [delivered, ['complained', null, undefined]]],
    ['delayed@', [['delayed', '4.7.1', undefined], delivered]],
    ['Late-Bounce@', [delivered, bounced('5.1.1', 'recipient')]],
    ['reply@', [delivered]],
  ])('%s has its reports pushed and polled in their order', async (local, expected) => {
    const made = transport();
    const { reports, all, sink } = collector(expected.length);
    made.listen(sink);
    const submission = email(`${local}example.com`);
    await made.submit(submission, signal);
    await all;
    const found = await polled(made, submission, expected.length);
    for (const list of [reports, found])
      expect(list.map(({ status, errorCode, details }) => [status, errorCode, details])).toEqual(
        expected,
      );
  });

  it('rejected@ is refused, and the answer to lost@ is never found', async () => {
    const made = transport();
    await expect(made.submit(email('rejected@example.com'), signal)).rejects.toMatchObject({
      code: 'address_refused',
    });
    const submission = email('lost@example.com');
    await expect(made.submit(submission, signal)).rejects.toBeInstanceOf(LostAnswerFailure);
    expect(await made.fetchReports(asked(submission))).toEqual([]);
  });

  it('reply@ is answered to the sender', async () => {
    const made = transport({ reportDelay: 1, replyDelay: 1 });
    const reply = new Promise((resolve) =>
      made.listen(
        async () => undefined,
        async ([message]) => resolve(message),
      ),
    );
    await made.submit(email('reply@example.com'), signal);
    expect(await reply).toMatchObject({
      channel: 'email',
      from: 'reply@example.com',
      to: 'shop@shop.example',
      text: 'Hello',
    });
  });
});

it('a poll finds no report before it is due', async () => {
  const submission = submissionTo(number(1111));
  let now = submission.firstSentAt.getTime();
  const made = transport({}, { ...systemClock, now: () => now });
  expect(await made.fetchReports(asked(submission))).toEqual([]);
  now += 50;
  expect(await made.fetchReports(asked(submission))).toHaveLength(1);
});

it('unsupported and aborted submissions are refused', async () => {
  const made = transport();
  const submission = submissionTo(number(1));
  await expect(made.submit({ ...submission, channel: 'telegram' }, signal)).rejects.toMatchObject({
    code: 'unsupported_channel',
  });
  await expect(made.submit(submission, AbortSignal.abort())).rejects.toBeInstanceOf(PausedFailure);
});

it('simulator() validates its options', () => {
  expect(() => simulator({ reportDelay: 'soon' as never })).toThrow(MessagingConfigError);
  expect(() => simulator({ maxRecipients: 0 })).toThrow(/maxRecipients/);
  expect(() => simulator({ delay: 5 } as object)).toThrow(
    /^simulator\.delay: there is no such option/,
  );
  expect(transport({})).toMatchObject({
    name: 'simulator',
    capabilities: { maxRecipients: 1000, idempotencyWindow: 72_000_000 },
  });
});

describe('WhatsApp', () => {
  const to = (recipient: string, content: Submission['content']): Submission => ({
    ...submissionTo(recipient),
    channel: 'whatsapp',
    tenant: 'shop',
    sender: '2348000000007',
    content,
  });
  const template = (name: string) =>
    ({ kind: 'template', template: name, language: 'en', params: [] }) as const;

  it('the WhatsApp answer has id, sender, category and price', async () => {
    const made = transport({
      rateCard: { currency: 'NGN', whatsapp: { marketing: '51.6', service: '0' } },
      categories: { sale: 'marketing' },
    });
    const accepted = await made.submit(to(number(1234), template('sale')), signal);
    expect(accepted.messageIds).toEqual([expect.stringMatching(/^wamid\./)]);
    expect(accepted.details).toEqual({
      sender: '2348000000007',
      category: 'marketing',
      cost: '51.6',
      currency: 'NGN',
    });
    const text = await made.submit(to(number(1234), { kind: 'text', text: 'Hi' }), signal);
    expect(text.details).toMatchObject({ category: 'service', cost: '0' });
    const other = await made.submit(to(number(1234), template('unpriced')), signal);
    expect(other.details).toEqual({ sender: '2348000000007', category: 'utility' });
  });

  it('a delivered WhatsApp message is read, pushed and polled', async () => {
    const made = transport();
    const { reports, all, sink } = collector(2);
    made.listen(sink);
    const submission = to(number(1234), template('hello'));
    await made.submit(submission, signal);
    await all;
    expect(reports.map(({ status }) => status)).toEqual(['delivered', 'read']);
    const found = await polled(made, submission, 2);
    expect(found).toEqual(reports.map((one) => ({ ...one, submissionId: submission.id })));
  });

  it('…9910 replies to the sending number after its delivery', async () => {
    const made = transport({ reportDelay: 1, replyDelay: 1 });
    const replies = new Promise((resolve) =>
      made.listen(
        async () => undefined,
        async (messages) => resolve(messages),
      ),
    );
    await made.submit(to(number(9910), template('hello')), signal);
    expect(await replies).toEqual([
      {
        messageId: expect.stringMatching(/^wamid\./),
        channel: 'whatsapp',
        from: number(9910),
        bsuid: null,
        to: '2348000000007',
        text: 'Hello',
        sentAt: null,
        tenant: 'shop',
      },
    ]);
  });
});
