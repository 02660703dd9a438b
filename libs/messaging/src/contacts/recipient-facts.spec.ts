import { expect, it } from '@jest/globals';
import { dialectOf } from '../store/open-store.js';
import type { StoreDatabase } from '../store/store-database.js';
import { systemClock } from '../ports/clock.js';
import { RecipientFactsReader } from './recipient-facts.js';

/** A database whose answers come when the test says so. */
function slowDatabase() {
  const answers: ((known: 0 | 1) => void)[] = [];
  const database = {
    dialect: dialectOf({ options: { type: 'postgres' } } as Parameters<typeof dialectOf>[0]),
    all: () =>
      new Promise((resolve) => answers.push((known) => resolve([{ known: String(known) }]))),
  } as unknown as StoreDatabase;
  return { answers, reader: new RecipientFactsReader(database, systemClock) };
}

it('that nobody is known is looked up once by all who ask at a time', async () => {
  const { answers, reader } = slowDatabase();
  const asked = [reader.nobody(), reader.nobody(), reader.nobody()];
  expect(answers).toHaveLength(1);
  answers[0]!(0);
  expect(await Promise.all(asked)).toEqual([true, true, true]);
  expect(reader.presumesNobody()).toBe(true);
});

it('who is written down while it is looked up is not overlooked', async () => {
  const { answers, reader } = slowDatabase();
  const asked = reader.nobody();
  reader.somebody();
  answers[0]!(0);
  await asked;
  expect(reader.presumesNobody()).toBe(false);
  const again = reader.nobody();
  answers[1]!(1);
  expect(await again).toBe(false);
});

it('before a message leaves, what was seen or asked before does not count', async () => {
  const { answers, reader } = slowDatabase();
  const early = reader.nobody();
  const late = reader.nobody(undefined, true);
  await turn();
  expect(answers).toHaveLength(2);
  answers[0]!(0);
  answers[1]!(1);
  expect(await Promise.all([early, late])).toEqual([true, false]);
  expect(reader.presumesNobody()).toBe(false);
});

it('those who ask before messages leave share a look that begins after they asked', async () => {
  const { answers, reader } = slowDatabase();
  const first = [reader.nobody(undefined, true), reader.nobody(undefined, true)];
  await turn();
  const later = reader.nobody(undefined, true);
  await turn();
  expect(answers).toHaveLength(1);
  answers[0]!(0);
  expect(await Promise.all(first)).toEqual([true, true]);
  await turn();
  expect(answers).toHaveLength(2);
  answers[1]!(1);
  expect(await later).toBe(false);
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
