import { describe, expect, it } from '@jest/globals';
import type { ProviderMessage } from '../../ports/message-transport.js';
import { settledBy, type UnansweredMessage } from './listed-messages.js';

const TO = '2348012345678';
const AT = Date.parse('2026-01-01T12:00:00Z');

function listed(messageId: string, seconds = 0, changes: Partial<ProviderMessage> = {}) {
  const report: ProviderMessage['report'] = {
    messageId,
    recipient: TO,
    reference: messageId,
    status: 'sent',
    rawStatus: 'sent',
    errorCode: null,
    providerTime: null,
  };
  return {
    report,
    sender: 'ACME',
    text: 'Hi',
    takenAt: new Date(AT + seconds * 1_000),
    ...changes,
  };
}

function own(n: number, seconds = 0, changes: Partial<UnansweredMessage> = {}): UnansweredMessage {
  return {
    submissionId: `s${n}`,
    recipient: TO,
    sender: 'ACME',
    intendedAt: AT + seconds * 1_000,
    text: 'Hi',
    isUnknown: true,
    ...changes,
  };
}

function settled(all: readonly ProviderMessage[], ours: readonly UnansweredMessage[]) {
  return [...settledBy(all, ours)].map(([one, { submissionId }]) => [
    one.report.messageId,
    submissionId,
  ]);
}

describe('listed messages', () => {
  it('the only one that fits settles the only message that fits', () => {
    expect(settled([listed('a')], [own(0)])).toEqual([['a', 's0']]);
    expect(settled([listed('a', 0, { sender: null })], [own(0)])).toEqual([['a', 's0']]);
    expect(
      settled([listed('a', 0, { sender: '234801' })], [own(0, 0, { sender: '+234801' })]),
    ).toEqual([['a', 's0']]);
  });

  it.each([
    ['another text', { text: 'Hi!' }],
    ['another sender', { sender: 'OTHER' }],
    ['a later intent', { intendedAt: AT + 62_000 }],
    ['an intent long before', { intendedAt: AT - 122_000 }],
    ['another recipient', { recipient: '2348012345679' }],
  ])('a message with %s does not fit', (_what, changes) => {
    expect(settled([listed('a')], [own(0, 0, changes)])).toEqual([]);
  });

  it('two identical messages are settled where both are listed, in their order', () => {
    const two = [listed('b', 21), listed('a', 2)];
    expect(settled(two, [own(1, 20), own(0)])).toEqual([
      ['a', 's0'],
      ['b', 's1'],
    ]);
  });

  it.each<[string, ProviderMessage[], UnansweredMessage[]]>([
    ['one of two identical messages is listed', [listed('a')], [own(0), own(1, 30)]],
    ['two listed ones fit one message', [listed('a'), listed('b', 30)], [own(0)]],
    [
      'the other identical one still waits for its answer, or was settled',
      [listed('a'), listed('b', 30)],
      [own(0), own(1, 30, { isUnknown: false })],
    ],
    [
      'the text of another one is gone',
      [listed('a'), listed('b', 1, { text: 'Yes' })],
      [own(0), own(1, 1, { text: undefined })],
    ],
    [
      'a chain of messages joins two that are far apart',
      [listed('a'), listed('b', 100)],
      [own(0), own(1, 50), own(2, 100)],
    ],
  ])('none is settled where %s', (_what, all, ours) => {
    expect(settled(all, ours)).toEqual([]);
  });

  it('an unclear text hinders no message of another one', () => {
    const all = [listed('a'), listed('b', 0, { text: 'Yes' })];
    expect(settled(all, [own(0), own(1), own(2, 0, { text: 'Yes' })])).toEqual([['b', 's2']]);
  });
});
