import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { AttemptResult } from './webhook-attempt.js';
import type { Sql, WebhookDatabase } from './webhook-database.js';
import type { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookRecorder } from './webhook-recorder.js';

const sql: Sql = { all: () => Promise.resolve([]), run: () => Promise.resolve(1) };

function resultOf(position: number): AttemptResult {
  return {
    startedAt: 1,
    duration: 1,
    status: 200,
    error: null,
    response: 'body',
    retryAfter: null,
    endpointId: 'w',
    nextAt: null,
    delivery: {
      position,
      id: `d${position}`,
      messageId: 'm',
      sequence: 1,
      payload: '',
      attempts: 0,
      dueAt: 0,
    },
  };
}

/** A database that fails the first `failures` transactions, and what was written in the others. */
function recorderOn(failures: number) {
  const written: (readonly AttemptResult[])[] = [];
  let transactions = 0;
  const database = {
    transaction: async (work: (on: Sql) => Promise<void>) => {
      if (++transactions <= failures) throw new Error('the database is away');
      return work(sql);
    },
  } as unknown as WebhookDatabase;
  const deliveries = {
    record: async (_sql: Sql, results: readonly AttemptResult[]) => void written.push(results),
  } as unknown as WebhookDeliveriesRepository;
  return { recorder: new WebhookRecorder(database, deliveries), written };
}

describe('webhook recorder', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('writes together what comes together', async () => {
    const { recorder, written } = recorderOn(0);
    const all = Array.from({ length: 1_200 }, (_, n) =>
      recorder.record({ result: resultOf(n), news: undefined }),
    );
    await Promise.all(all);
    expect(written.map((group) => group.length)).toEqual([500, 500, 200]);
  });

  it('what was sent is recorded when the database is back, without the text strangers wrote', async () => {
    jest.useFakeTimers();
    try {
      const { recorder, written } = recorderOn(2);
      const recorded = recorder.record({ result: resultOf(1), news: undefined });
      await jest.advanceTimersByTimeAsync(10_000);
      await recorded;
      expect(written).toEqual([[{ ...resultOf(1), response: null }]]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('a stop waits no longer for a database that is away', async () => {
    const { recorder, written } = recorderOn(Number.POSITIVE_INFINITY);
    const recorded = recorder.record({ result: resultOf(1), news: undefined });
    recorder.stop();
    await expect(recorded).rejects.toThrow('the database is away');
    expect(written).toEqual([]);
  });
});
