import { expect, it } from '@jest/globals';
import { PduTurns } from './pdu-turns.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('floods of many peers share a millisecond of a turn, each with at most 50 PDUs, in rounds', async () => {
  let now = 0;
  const turns = new PduTurns(() => now);
  const taken = Array.from({ length: 10 }, () => 0);
  // A PDU takes a 128th of a millisecond: 128 PDUs fill one.
  const flood = (peer: number) => (): void => {
    for (let own = 0; turns.take(own); own++) {
      taken[peer]!++;
      now += 1 / 128;
    }
    turns.wait(flood(peer));
  };
  for (const peer of taken.keys()) flood(peer)();
  expect(taken).toEqual([50, 50, 28, 0, 0, 0, 0, 0, 0, 0]);
  await nextTurn();
  expect(taken).toEqual([100, 100, 56, 0, 0, 0, 0, 0, 0, 0]);
  await nextTurn();
  expect(taken).toEqual([100, 100, 56, 50, 50, 28, 0, 0, 0, 0]);
  await nextTurn();
  expect(taken).toEqual([100, 100, 56, 50, 50, 28, 50, 50, 28, 0]);
});

it('a peer that sends little in a turn is not made to wait', async () => {
  let now = 0;
  const turns = new PduTurns(() => now);
  for (let turn = 0; turn < 10; turn++) {
    for (let own = 0; own < 50; own++) expect(turns.take(own)).toBe(true);
    await nextTurn();
    now += 10;
  }
});
