import { describe, expect, it } from '@jest/globals';
import type { MessageStatusChanged } from '@dundun/messaging';
import { receiptsFor, receiptsOf } from './smpp-receipts.js';

const BATCH = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd';
const BASE = '01a1f91d-94f5-779e-8c4f-a4ea0dc430de';

function change(
  status: string,
  metadata: Record<string, string> = {},
  more: Partial<MessageStatusChanged> = {},
): MessageStatusChanged {
  return {
    tenant: 'acc_1',
    channel: 'sms',
    batchId: BATCH,
    messageId: `${BATCH}-0`,
    providerId: null,
    sender: 'ACME',
    recipient: '2348012345678',
    previous: 'sent',
    status,
    errorCode: null,
    providerTime: new Date('2026-11-24T09:00:00Z'),
    sequence: 1,
    deliveryReport: true,
    metadata: { smpp_system_id: 'smpp1', smpp_receipts: '1', ...metadata },
    ...more,
  } as MessageStatusChanged;
}
const statesFor = (...given: Parameters<typeof change>) =>
  receiptsFor(change(...given)).map(({ messageId, state }) => [messageId, state]);

describe('receiptsFor', () => {
  it.each([
    ['delivered', 'delivered'],
    ['read', 'delivered'],
    ['expired', 'expired'],
    ['undelivered', 'undeliverable'],
    ['failed', 'undeliverable'],
    ['rejected', 'rejected'],
    ['cancelled', 'deleted'],
  ])('the status %s is the state %s', (status, state) => {
    expect(statesFor(status)).toEqual([[BATCH, state]]);
  });

  it.each(['queued', 'sending', 'sent', 'unknown'])('the status %s has no receipt', (status) => {
    expect(statesFor(status)).toEqual([]);
  });

  it('the status read after delivered, and an event, have no receipt', () => {
    expect(statesFor('read', {}, { previous: 'delivered' })).toEqual([]);
    expect(statesFor('delivered', {}, { event: 'delayed' })).toEqual([]);
  });

  it('receipts of failures alone leave successes out', () => {
    expect(statesFor('delivered', { smpp_receipts: '2' })).toEqual([]);
    expect(statesFor('failed', { smpp_receipts: '2' })).toEqual([[BATCH, 'undeliverable']]);
  });

  it('each part that asked for a receipt has one, beside that of the last part', () => {
    expect(statesFor('delivered', { smpp_parts: `${BASE} 1020` })).toEqual([
      [`${BASE}-1`, 'delivered'],
      [BATCH, 'delivered'],
    ]);
  });

  it.each([['x'.repeat(500)], [`${BASE} 3`], [`${BASE}`], [`x${BASE} 1`], [`${BASE} 1 1`]])(
    'parts in metadata of a customer (%s) are ignored',
    (written) => {
      const labels = { smpp_receipts: '0', smpp_parts: written };
      expect(statesFor('delivered', labels)).toEqual([]);
    },
  );

  it('the submit date is that of the batch, and an error of three digits is kept', () => {
    const [receipt] = receiptsFor(change('failed', {}, { errorCode: '27' }));
    expect(receipt).toMatchObject({
      error: '027',
      submittedAt: new Date(0x01a1f91d94f5),
      doneAt: new Date('2026-11-24T09:00:00Z'),
    });
    const [other] = receiptsFor(change('failed', {}, { errorCode: 'absent_subscriber' }));
    expect(other?.error).toBe('000');
  });

  it('a message of another channel, or that was not sent over SMPP, has none', () => {
    expect(receiptsFor(change('delivered', {}, { channel: 'whatsapp' }))).toEqual([]);
    expect(receiptsFor({ ...change('delivered'), metadata: { order: '1' } })).toEqual([]);
  });
});

it('registered_delivery asks by its two lowest bits', () => {
  expect([0, 1, 2, 3, 0x10, 0x11].map(receiptsOf)).toEqual([0, 1, 2, 1, 0, 1]);
});
