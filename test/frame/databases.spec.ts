import { beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { describeEachDatabase } from '../support/databases.js';

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
