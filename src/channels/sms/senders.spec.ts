import { describe, expect, it } from '@jest/globals';
import { isSenderId } from './senders.js';

describe('isSenderId', () => {
  it.each(['A', 'ACME', 'Acme 24', '4you', 'ABCDEFGHIJK'])('%j is a sender ID', (sender) => {
    expect(isSenderId(sender)).toBe(true);
  });

  it.each([
    '',
    ' ',
    '12345',
    ' ACME',
    'ACME ',
    'ABCDEFGHIJKL',
    'A.B',
    'Ünal',
    'A\nB',
    'A\u0000',
    7,
    null,
  ])('%j is none', (sender) => {
    expect(isSenderId(sender)).toBe(false);
  });
});
