import assert from 'node:assert/strict';
import { getEventListeners, setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { v7 } from 'uuid';
import type { DeliveryReport } from '../message/events.js';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from '../message/errors.js';
import type { MessageTransport, Submission } from '../ports/message-transport.js';
import { checkedAnswer } from '../ports/submission-answer.js';
import { type TestRunner, testRunner } from './test-runner.js';

/** Answers of proxies, load balancers and API gateways. */
const PROXY_STATUSES = [400, 401, 403, 404, 405, 407, 408, 413, 422, 429, 500, 502, 503, 504];
const PROXY_BODIES = ['', '<html><h1>Unavailable</h1></html>', '{"message":"Unavailable"}'];

/** A transport with a provider, new for one test. */
export interface TransportUnderTest {
  readonly transport: MessageTransport;
  /** Number of submissions that the provider has recorded, where it counts them. */
  accepted?(): number;
  close(): Promise<void>;
}

/** Settings of the suite for one transport and its provider. */
export interface TransportSetup<T extends TransportUnderTest = TransportUnderTest> {
  start(): Promise<T>;
  /** A sender that the provider knows. */
  readonly sender: string;
  /** A recipient whose messages are delivered, a different one for each index. */
  recipient(index: number): string;
  /** Changes that make the provider refuse a submission permanently. */
  readonly refused: Partial<Submission>;
  /** Set where the provider refuses this recipient and accepts the others. */
  readonly refusedRecipient?: string;
  /** Set where an answer can be lost after acceptance. */
  readonly lostAnswer?: {
    /** Changes to a submission whose answer is lost. */
    readonly changes?: Partial<Submission>;
    /** Alternatively, loses the next answer. */
    arm?(under: T): void;
    /** Whether the resent submission gets an answer. */
    readonly settles: boolean;
  };
  /**
   * Set for a provider over HTTP: the next request is answered in a form that is not the provider's,
   * as by a proxy, before the provider has it or after the provider has accepted it.
   */
  readonly proxyAnswer?: (
    under: T,
    answer: { readonly status: number; readonly body: string },
    when: 'before acceptance' | 'after acceptance',
  ) => void;
  /** Changes to every submission, such as its channel. */
  readonly changes?: Partial<Submission>;
  /** Most recipients of one submission, where fewer than on the transport's other channels. */
  readonly most?: number;
  /** The transport has `listen()`, so it receives delivery reports by itself. */
  readonly pushes: boolean;
  /** The transport has `fetchReports()`. */
  readonly polls: boolean;
  /** The transport has `listSent()`, and `lostAnswer` loses an answer. @default false */
  readonly lists?: boolean;
}

/**
 * Contract of every {@link MessageTransport}, for any test runner with `describe` and `it`.
 * @example
 * messageTransportContract('acme', { start: startAcme, sender: 'ACME', … });
 */
export function messageTransportContract<T extends TransportUnderTest>(
  name: string,
  setup: TransportSetup<T>,
  { describe, it }: TestRunner = testRunner(),
): void {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const submissionTo = (recipients: readonly string[]): Submission => {
    const batchId = v7();
    return {
      id: `${batchId}-s0`,
      batchId,
      tenant: '',
      channel: 'sms',
      sender: setup.sender,
      content: { kind: 'text', text: 'Contract' },
      recipients,
      deliveryReport: true,
      attempt: 1,
      dueAt: new Date(1_790_000_000_000),
      firstSentAt: new Date(1_790_000_000_000),
      ...setup.changes,
    };
  };
  const one = () => submissionTo([setup.recipient(0)]);
  const many = (count: number) =>
    submissionTo(
      Array.from({ length: Math.min(count, setup.most ?? count) }, (_, i) => setup.recipient(i)),
    );
  const promise = (text: string, prove: (under: T) => Promise<void>) => {
    it(text, async () => {
      const under = await setup.start();
      try {
        await prove(under);
      } finally {
        await under.close();
      }
    });
  };

  describe(`${name} keeps the transport contract`, () => {
    promise('the transport has a storable name and valid capabilities', async ({ transport }) => {
      assert.match(transport.name, /^[a-z0-9][a-z0-9._-]{0,31}$/);
      const { maxRecipients, idempotencyWindow, connections = 1 } = transport.capabilities;
      const { maxShared = maxRecipients } = transport.capabilities;
      assert.ok(Number.isSafeInteger(maxRecipients) && maxRecipients >= 1);
      assert.ok(Number.isSafeInteger(maxShared) && maxShared >= 1);
      assert.ok(Number.isSafeInteger(connections) && connections >= 1);
      assert.ok(Number.isFinite(idempotencyWindow) && idempotencyWindow >= 0);
      assert.equal(typeof transport.listen, setup.pushes ? 'function' : 'undefined');
      assert.equal(typeof transport.fetchReports, setup.polls ? 'function' : 'undefined');
      assert.equal(typeof transport.listSent, setup.lists ? 'function' : 'undefined');
    });

    promise(
      'an accepted submission has a reference, and the provider has it once',
      async (under) => {
        const submission = one();
        const answer = await under.transport.submit(submission, signal);
        checkedAnswer(under.transport.name, submission, answer);
        assert.equal(under.accepted?.() ?? 1, 1);
      },
    );

    promise('a submission with maxRecipients recipients is accepted', async ({ transport }) => {
      const submission = many(transport.capabilities.maxRecipients);
      const accepted = await transport.submit(submission, signal);
      checkedAnswer(transport.name, submission, accepted);
      assert.equal(accepted.rejected?.size ?? 0, 0);
    });

    promise('concurrent submissions each get their own reference', async ({ transport }) => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => transport.submit(one(), signal)),
      );
      assert.equal(new Set(answers.map(({ reference }) => reference)).size, 20);
    });

    promise(
      'a repeated submission has the same reference, where keys are honoured',
      async (under) => {
        const { transport } = under;
        const submission = one();
        const first = await transport.submit(submission, signal);
        if (transport.capabilities.idempotencyWindow === 0) return;
        const again = await transport.submit({ ...submission, attempt: 2 }, signal);
        assert.equal(again.reference, first.reference);
        assert.equal(under.accepted?.() ?? 1, 1);
      },
    );

    promise(
      'a refusal for good is permanent, and the provider accepts no message',
      async (under) => {
        const submission = { ...one(), ...setup.refused };
        const failure = await failureOf(under.transport, submission, signal);
        assert.ok(failure instanceof PermanentFailure, `${failure.name} is no PermanentFailure`);
        assert.equal(under.accepted?.() ?? 0, 0);
      },
    );

    promise('a submission that is aborted before its start is not sent', async (under) => {
      const failure = await failureOf(under.transport, one(), AbortSignal.abort());
      assert.ok(
        failure instanceof PausedFailure || failure instanceof RetryableFailure,
        `${failure.name} does not say that nothing was sent`,
      );
      assert.equal(under.accepted?.() ?? 0, 0);
    });

    promise('an abort ends the request, and hides no acceptance', async (under) => {
      const controller = new AbortController();
      const submitted = under.transport.submit(one(), controller.signal).then(
        () => undefined,
        (error: Error) => error,
      );
      setImmediate(() => controller.abort());
      const failure = await submitted;
      if (failure === undefined) return;
      assert.ok(failure instanceof SubmitFailure, `${failure.name} is no SubmitFailure`);
      assert.ok(!(failure instanceof PermanentFailure), 'an abort is no refusal');
      if (failure instanceof UncertainFailure) return;
      // A submission reported as not sent must not arrive later.
      await pause(100);
      assert.equal(under.accepted?.() ?? 0, 0);
    });

    // One listener may serve all requests under a signal.
    promise(
      'requests that have ended leave no listeners on their signal',
      async ({ transport }) => {
        const controller = new AbortController();
        for (let n = 0; n < 3; n++) await transport.submit(one(), controller.signal);
        assert.ok(getEventListeners(controller.signal, 'abort').length <= 1);
      },
    );

    const { refusedRecipient, lostAnswer, proxyAnswer } = setup;
    if (refusedRecipient !== undefined)
      promise('a refused recipient among others is named, and no other', async ({ transport }) => {
        const submission = submissionTo([setup.recipient(0), refusedRecipient, setup.recipient(1)]);
        const { rejected } = await transport.submit(submission, signal);
        assert.deepEqual([...(rejected?.keys() ?? [])], [refusedRecipient]);
        assert.match(rejected?.get(refusedRecipient) ?? '', /^[a-z0-9_.-]+$/i);
      });

    if (proxyAnswer)
      for (const when of ['before acceptance', 'after acceptance'] as const)
        promise(
          `an answer ${when} that is not in the provider's form is uncertain, whatever its status`,
          async (under) => {
            const { transport } = under;
            for (const status of PROXY_STATUSES)
              for (const body of PROXY_BODIES) {
                const before = under.accepted?.() ?? 0;
                const submission = one();
                proxyAnswer(under, { status, body }, when);
                const failure = await failureOf(transport, submission, signal);
                assert.ok(
                  failure instanceof UncertainFailure,
                  `${failure.name} for ${status} ${JSON.stringify(body)} is no UncertainFailure`,
                );
                if (transport.capabilities.idempotencyWindow === 0) continue;
                await transport.submit({ ...submission, attempt: 2 }, signal);
                assert.equal(under.accepted?.() ?? before + 1, before + 1);
              }
          },
        );

    if (lostAnswer) {
      promise('a lost answer is uncertain', async (under) => {
        lostAnswer.arm?.(under);
        const submission = { ...one(), ...lostAnswer.changes };
        const failure = await failureOf(under.transport, submission, signal);
        assert.ok(failure instanceof UncertainFailure, `${failure.name} is no UncertainFailure`);
        if (!lostAnswer.settles) return;
        await under.transport.submit({ ...submission, attempt: 2 }, signal);
        assert.equal(under.accepted?.() ?? 1, 1);
      });

      if (setup.polls)
        promise(
          'a poll by submission id finds a submission whose answer was lost, where reportsByKey says so',
          async (under) => {
            const submission = { ...one(), ...lostAnswer.changes };
            const { reportsByKey = [] } = under.transport.capabilities;
            if (!reportsByKey.includes(submission.channel)) return;
            lostAnswer.arm?.(under);
            await failureOf(under.transport, submission, signal);
            const found = await polled(under.transport, submission, null);
            assert.deepEqual(
              new Set(found.map(({ submissionId }) => submissionId)),
              new Set([submission.id]),
            );
          },
        );
    }

    if (setup.lists)
      promise(
        'a message whose answer was lost is listed with what tells it apart',
        async (under) => {
          const submission = { ...one(), firstSentAt: new Date() };
          lostAnswer?.arm?.(under);
          await failureOf(under.transport, submission, signal);
          const { id: submissionId, channel, sender, recipients, firstSentAt } = submission;
          const asked = { submissionId, reference: null, channel, sender, recipients, firstSentAt };
          const listed = (await under.transport.listSent?.([asked], signal)) ?? [];
          const facts = listed.map(({ report, sender: from, text }) => [
            report.recipient,
            from,
            text,
          ]);
          assert.deepEqual(facts, [[recipients[0], sender, 'Contract']]);
          assert.ok(Math.abs((listed[0]?.takenAt.getTime() ?? 0) - firstSentAt.getTime()) < 60_000);
        },
      );

    if (setup.polls)
      promise(
        'a poll by reference finds every recipient, each time the same',
        async ({ transport }) => {
          const submission = many(3);
          const { reference } = await transport.submit(submission, signal);
          const found = await polled(transport, submission, reference);
          for (const report of found) assert.equal(report.reference, reference);
          assert.deepEqual(await polled(transport, submission, reference), found);
        },
      );

    if (setup.pushes) {
      promise(
        'every recipient is reported to the sink, under the reference',
        async ({ transport }) => {
          const heard = await listenTo(transport);
          const submission = many(50);
          const { reference } = await transport.submit(submission, signal);
          const reports = await heard(submission.recipients);
          for (const report of reports) assert.equal(report.reference, reference);
          if (!setup.polls) return;
          const finals = await polled(transport, submission, reference);
          assert.ok(await heardAll(reports, finals), 'a polled report differs from the pushed one');
        },
      );

      promise('a report is repeated after the sink fails', async ({ transport }) => {
        let failures = 2;
        const heard = await listenTo(transport, () => {
          if (failures-- > 0) throw new Error('The store is away');
        });
        const submission = many(3);
        await transport.submit(submission, signal);
        await heard(submission.recipients);
      });
    }
  });
}

/** Returns the failure of the submit, with a valid code and a message without addresses. */
async function failureOf(
  transport: MessageTransport,
  submission: Submission,
  signal: AbortSignal,
): Promise<SubmitFailure> {
  const failure = await transport.submit(submission, signal).then(
    () => assert.fail('The submission was accepted'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof SubmitFailure, `${String(failure)} is no SubmitFailure`);
  assert.match(failure.code, /^[a-z0-9_.-]+$/i);
  for (const recipient of submission.recipients) assert.ok(!failure.message.includes(recipient));
  return failure;
}

async function polled(
  transport: MessageTransport,
  { id, channel, recipients, firstSentAt }: Submission,
  reference: string | null,
): Promise<readonly DeliveryReport[]> {
  const query = [{ submissionId: id, channel, reference, recipients, firstSentAt }];
  for (;;) {
    const reports = (await transport.fetchReports?.(query, new AbortController().signal)) ?? [];
    const found = new Set(reports.map(({ recipient }) => recipient));
    if (recipients.every((recipient) => found.has(recipient))) return reports;
    await pause(10);
  }
}

/** @returns a function that resolves with the reports once every recipient has one */
async function listenTo(transport: MessageTransport, before: () => void = () => undefined) {
  const heard: DeliveryReport[] = [];
  let notify: () => void = () => undefined;
  await transport.listen?.(async (reports) => {
    before();
    heard.push(...reports);
    notify();
  });
  return (recipients: readonly string[]) =>
    new Promise<readonly DeliveryReport[]>((resolve) => {
      notify = () => {
        const found = new Set(heard.map(({ recipient }) => recipient));
        if (recipients.every((recipient) => found.has(recipient))) resolve(heard);
      };
      notify();
    });
}

/** Waits two seconds for the same pushed reports: `read` follows the `delivered` of all. */
async function heardAll(
  heard: readonly DeliveryReport[],
  polled: readonly DeliveryReport[],
): Promise<boolean> {
  const wanted = polled.map(({ submissionId: _of, ...report }) => JSON.stringify(report));
  for (let tries = 0; tries < 200; tries++) {
    const pushed = new Set(heard.map(({ submissionId: _of, ...report }) => JSON.stringify(report)));
    if (wanted.every((report) => pushed.has(report))) return true;
    await pause(10);
  }
  return false;
}
