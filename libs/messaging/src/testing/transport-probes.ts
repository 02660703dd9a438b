import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryReport } from '../message/events.js';
import { SubmitFailure } from '../message/errors.js';
import type { MessageTransport, Submission } from '../ports/message-transport.js';

/** Returns the failure of the submit, with a valid code and a message without addresses. */
export async function failureOf(
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

export async function polled(
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
export function listenTo(transport: MessageTransport, before: () => void = () => undefined) {
  const heard: DeliveryReport[] = [];
  let notify: () => void = () => undefined;
  transport.listen?.(async (reports) => {
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
export async function heardAll(
  heard: readonly DeliveryReport[],
  polled: readonly DeliveryReport[],
): Promise<boolean> {
  const wanted = polled.map(({ submissionId: _of, ...report }) => JSON.stringify(report));
  for (let tries = 0; tries < 200; tries++) {
    const pushed = new Set(heard.map((report) => JSON.stringify(report)));
    if (wanted.every((report) => pushed.has(report))) return true;
    await pause(10);
  }
  return false;
}
