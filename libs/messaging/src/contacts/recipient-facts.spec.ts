import { expect, it } from '@jest/globals';
import { dialectOf } from '../store/open-store.js';
import type { StoreDatabase } from '../store/database/store-database.js';
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

it('concurrent questions whether the tables are empty share one query', async () => {
  const { answers, reader } = slowDatabase();
  const asked = [reader.isEmpty(), reader.isEmpty(), reader.isEmpty()];
  expect(answers).toHaveLength(1);
  answers[0]!(0);
  expect(await Promise.all(asked)).toEqual([true, true, true]);
  expect(reader.presumesEmpty()).toBe(true);
});

it('a contact written during the query ends its answer', async () => {
  const { answers, reader } = slowDatabase();
  const asked = reader.isEmpty();
  reader.wrote();
  answers[0]!(0);
  await asked;
  expect(reader.presumesEmpty()).toBe(false);
  const again = reader.isEmpty();
  answers[1]!(1);
  expect(await again).toBe(false);
});

it('a fresh look uses no earlier answer and no query under way', async () => {
  const { answers, reader } = slowDatabase();
  const early = reader.isEmpty();
  const late = reader.isEmpty(undefined, true);
  await turn();
  expect(answers).toHaveLength(2);
  answers[0]!(0);
  answers[1]!(1);
  expect(await Promise.all([early, late])).toEqual([true, false]);
  expect(reader.presumesEmpty()).toBe(false);
});

it('fresh looks share a query that begins after they were asked for', async () => {
  const { answers, reader } = slowDatabase();
  const first = [reader.isEmpty(undefined, true), reader.isEmpty(undefined, true)];
  await turn();
  const later = reader.isEmpty(undefined, true);
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
