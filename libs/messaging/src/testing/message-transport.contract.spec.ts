import { describe, expect, it } from '@jest/globals';
import { transportContext } from '../../../../test/support/transport-context.js';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../message/errors.js';
import type { MessageTransport, Submission } from '../ports/message-transport.js';
import { simulator, type SimulatorTransport } from '../providers/simulator/simulator.transport.js';
import { messageTransportContract } from './message-transport.contract.js';

// Sinks fail on purpose here.
Logger.overrideLogger(false);

type Lie = (honest: MessageTransport) => Partial<MessageTransport>;

/** Runs the contract on a simulator with a fault, and names the failing tests. */
async function brokenPromises(lie: Lie): Promise<string[]> {
  const proofs: [string, () => Promise<void>][] = [];
  messageTransportContract(
    'liar',
    {
      start: async () => {
        const honest = simulator({ reportDelay: 1 })(transportContext()) as SimulatorTransport;
        const transport: MessageTransport = {
          name: honest.name,
          capabilities: honest.capabilities,
          submit: (submission, signal) => honest.submit(submission, signal),
          fetchReports: (submissions) => honest.fetchReports(submissions),
          listen: (sink) => honest.listen(sink),
          ...lie(honest),
        };
        return { transport, close: () => honest.beforeApplicationShutdown() };
      },
      sender: 'ACME',
      recipient: (index) => String(2348012340000 + index),
      refused: { recipients: ['2348012349903'] },
      refusedRecipient: '2348012349903',
      lostAnswer: { changes: { recipients: ['2348012349908'] }, settles: false },
      pushes: true,
      polls: true,
    },
    {
      describe: (_name, body) => body(),
      it: (name, body) => proofs.push([name, body]),
    },
  );
  const broken: string[] = [];
  for (const [name, prove] of proofs) await prove().catch(() => broken.push(name));
  return broken;
}

const recipientsOf = ({ recipients }: Submission) => recipients.join();

describe('messageTransportContract', () => {
  it('the transport contract passes a correct transport', async () => {
    expect(await brokenPromises(() => ({}))).toEqual([]);
  });

  it.each<[string, Lie, string]>([
    [
      'a new reference each time',
      (honest) => ({
        submit: async (...args) => ({ ...(await honest.submit(...args)), reference: randomUUID() }),
      }),
      'a repeated submission has the same reference',
    ],
    [
      'one reference for all',
      (honest) => ({
        submit: async (...args) => ({ ...(await honest.submit(...args)), reference: 'r' }),
      }),
      'each get their own reference',
    ],
    [
      'numbers in its errors',
      (honest) => ({
        submit: (submission, signal) =>
          honest.submit(submission, signal).catch((error: Error) => {
            throw error instanceof PermanentFailure
              ? new PermanentFailure(error.code, `No ${recipientsOf(submission)}`)
              : error;
          }),
      }),
      'a refusal for good is permanent',
    ],
    [
      'bare errors',
      (honest) => ({
        submit: (...args) =>
          honest.submit(...args).catch((error: Error) => {
            throw error instanceof UncertainFailure ? new Error('lost') : error;
          }),
      }),
      'a lost answer is uncertain',
    ],
    [
      'a pause for a refusal',
      (honest) => ({
        submit: (...args) =>
          honest.submit(...args).catch((error: Error) => {
            throw error instanceof PermanentFailure ? new PausedFailure('x', 'x') : error;
          }),
      }),
      'a refusal for good is permanent',
    ],
    [
      'a signal that it ignores',
      (honest) => ({
        submit: (submission) => honest.submit(submission, new AbortController().signal),
      }),
      'a submission that is aborted before its start is not sent',
    ],
    [
      'no list of refused recipients',
      (honest) => ({
        submit: async (...args) => ({ reference: (await honest.submit(...args)).reference }),
      }),
      'a refused recipient among others is named',
    ],
    [
      'reports pushed under another time',
      (honest) => ({
        listen: (sink) =>
          honest.listen?.((reports) =>
            sink(reports.map((report) => ({ ...report, providerTime: new Date(0) }))),
          ),
      }),
      'every recipient is reported to the sink',
    ],
    ['a name with a space', () => ({ name: 'My Transport' }), 'has a storable name'],
  ])('the transport contract catches %s', async (_what, lie, promise) => {
    expect(await brokenPromises(lie)).toContainEqual(expect.stringContaining(promise));
  });

  it('the transport contract names a missing test runner', () => {
    const globals = globalThis as { it?: unknown };
    const { it: kept } = globals;
    delete globals.it;
    try {
      expect(() => messageTransportContract('x', {} as never)).toThrow(/pass \{ describe, it \}/);
    } finally {
      globals.it = kept;
    }
  });
});
