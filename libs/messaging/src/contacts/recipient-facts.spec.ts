import { expect, it } from '@jest/globals';
import { driverOf } from '../store/open-store.js';
import type { StoreDatabase } from '../store/database/store-database.js';
import type { MessageStore } from '../store/message-store.js';
import { systemClock } from '../ports/clock.js';
import { RecipientFactsReader } from './recipient-facts.js';

/** A database whose answers come when the test says so. */
function slowDatabase() {
  const answers: ((known: 0 | 1) => void)[] = [];
  const database = {
    dialect: driverOf({ options: { type: 'postgres' } } as Parameters<typeof driverOf>[0]).dialect,
    all: async (sql: string) =>
      sql.includes('AS known')
        ? new Promise((resolve) => answers.push((known) => resolve([{ known: String(known) }])))
        : [],
  } as unknown as StoreDatabase;
  return { answers, reader: new RecipientFactsReader({ database } as MessageStore, systemClock) };
}

const noRecipients = { recipients: [], messages: [] };

it('concurrent questions whether the tables are empty share one query', async () => {
  const { answers, reader } = slowDatabase();
  const asked = [1, 2, 3].map(() => reader.read(noRecipients, 'known'));
  await turn();
  expect(answers).toHaveLength(1);
  answers[0]!(0);
  await Promise.all(asked);
  expect(reader.presumesEmpty()).toBe(true);
});

it('a contact written during the query invalidates its answer', async () => {
  const { answers, reader } = slowDatabase();
  const asked = reader.read(noRecipients, 'known');
  await turn();
  reader.wrote();
  answers[0]!(0);
  await asked;
  expect(reader.presumesEmpty()).toBe(false);
});

it('a fresh read uses no cached answer', async () => {
  const { answers, reader } = slowDatabase();
  const early = reader.read(noRecipients, 'known');
  await turn();
  answers[0]!(0);
  await early;
  await reader.read(noRecipients, 'known');
  expect(answers).toHaveLength(1);
  const late = reader.read(noRecipients, 'known', { fresh: true });
  await turn();
  expect(answers).toHaveLength(2);
  answers[1]!(1);
  await late;
  expect(reader.presumesEmpty()).toBe(false);
});

it('concurrent fresh reads share a query that begins after all of them', async () => {
  const { answers, reader } = slowDatabase();
  const look = () => reader.read(noRecipients, 'known', { fresh: true });
  const first = [look(), look()];
  await turn();
  const later = look();
  await turn();
  expect(answers).toHaveLength(1);
  answers[0]!(0);
  await Promise.all(first);
  await turn();
  expect(answers).toHaveLength(2);
  answers[1]!(1);
  await later;
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
