import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { MessagingOperations } from '@dundun/messaging/operations';
import { describeOneDatabase } from '../../support/databases.js';
import { DispatchFixture } from '../dispatch/dispatch-fixture.js';
import { report } from './reports-app.js';

describeOneDatabase('reports that name no message', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('unmatched reports are counted by provider and listed in pages, newest first', async () => {
    const { app, store } = await fixture.boot({ dispatch: false });
    const operations = app.get(MessagingOperations);
    for (const n of [1, 2, 3])
      await store.reports.record([report({ reference: `ref-${n}`, recipient: '2348012345678' })], {
        provider: n === 3 ? 'other' : 'scripted',
      });
    expect(Object.fromEntries(await operations.unmatchedCounts())).toEqual({
      other: 1,
      scripted: 2,
    });
    const first = await operations.unmatchedReports({ limit: 2 });
    expect(first.data.map(({ reference }) => reference)).toEqual(['ref-3', 'ref-2']);
    expect(first.data[0]).toEqual({
      provider: 'other',
      reference: 'ref-3',
      messageId: null,
      recipient: '2348012345678',
      status: 'delivered',
      rawStatus: 'DELIVRD',
      errorCode: null,
      providerTime: new Date('2026-01-01T00:00:00Z'),
      receivedAt: expect.any(Date),
    });
    const cursor = first.nextCursor ?? '';
    const second = await operations.unmatchedReports({ limit: 2, cursor });
    expect(second.data.map(({ reference }) => reference)).toEqual(['ref-1']);
    expect(second.nextCursor).toBeNull();
    const own = await operations.unmatchedReports({ provider: 'scripted' });
    expect(own.data).toHaveLength(2);
    await expect(operations.unmatchedReports({ cursor: '?' })).rejects.toMatchObject({
      fields: [{ path: 'cursor' }],
    });
  });
});
