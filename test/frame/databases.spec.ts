import { beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import {
  type DatabaseKind,
  describeEachDatabase,
  describeOneDatabase,
  drawnFor,
} from '../support/databases.js';

const urls = new Set<string>();

describeEachDatabase('a private database', (db) => {
  let source: DataSource;

  beforeAll(async () => {
    source = await db.open();
  });

  it('a private test database is empty and writable', async () => {
    await source.query('CREATE TABLE sender (name VARCHAR(11) PRIMARY KEY)');
    await source.query("INSERT INTO sender VALUES ('ACME')");
    expect(await source.query('SELECT name FROM sender')).toEqual([{ name: 'ACME' }]);
  });

  it('a private test database is reachable at its address', async () => {
    expect(db.url).toMatch(
      { sqlite: /^sqlite:\//, postgres: /^postgres:\/\//, mariadb: /^mysql:\/\// }[db.kind],
    );
    expect(urls).not.toContain(db.url);
    urls.add(db.url);
    const again = await db.open();
    expect(await again.query('SELECT name FROM sender')).toEqual([{ name: 'ACME' }]);
  });
});

const described: DatabaseKind[] = [];

describeOneDatabase('a suite for one database', (db) => {
  described.push(db.kind);

  it('a suite for one database runs once, or on each database in the full form', () => {
    expect(described).toHaveLength(process.env.DATABASES === 'each' ? 3 : 1);
  });
});

it('suites for one database are spread over the databases', () => {
  const drawn = Array.from({ length: 300 }, (_, n) =>
    drawnFor(`suite ${n}`, ['sqlite', 'postgres', 'mariadb']),
  );
  for (const kind of ['sqlite', 'postgres', 'mariadb'] as const) {
    const share = drawn.filter((one) => one === kind).length;
    expect(share).toBeGreaterThan(70);
    expect(share).toBeLessThan(130);
  }
  expect(drawnFor('suite 7', ['sqlite'])).toBe('sqlite');
});
