import { describe, expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataSourceOptions } from '../../src/gateway-database.js';
import { digestOf } from '../layouts/fixtures.js';
import { LAYOUTS } from '../layouts/layouts.js';

const FOLDER = join(import.meta.dirname, '../layouts');
const KINDS = ['sqlite', 'postgres', 'mariadb'] as const;

const timeOf = (name: string) => Number(/\d{13}$/.exec(name));

function present(): string[] {
  const { migrations } = dataSourceOptions({ DATABASE_URL: { type: 'sqlite', path: ':memory:' } });
  return (migrations as (new () => { name: string })[]).map((Migration) => new Migration().name);
}

describe('the migrations of released layouts', () => {
  it('each is still there by its name, and a new one has a later timestamp', () => {
    const released = LAYOUTS.flatMap(({ migrations }) => migrations);
    const names = present();
    expect(names).toEqual(expect.arrayContaining(released));
    const newest = Math.max(...released.map(timeOf));
    const added = names.filter((name) => !released.includes(name));
    expect(added.filter((name) => !(timeOf(name) > newest))).toEqual([]);
  });

  it('the fixtures of a layout are those that were released, with its migrations', async () => {
    const folders = (await readdir(FOLDER, { withFileTypes: true })).filter((one) =>
      one.isDirectory(),
    );
    expect(LAYOUTS.map(({ name }) => name)).toEqual(folders.map(({ name }) => name).toSorted());
    for (const { name, migrations, digests } of LAYOUTS)
      for (const kind of KINDS) {
        expect([name, kind, await digestOf(name, kind)]).toEqual([name, kind, digests[kind]]);
        const sql = await readFile(join(FOLDER, name, `${kind}.sql`), 'utf8');
        const found = [...sql.matchAll(/'([A-Z]\w*?1[67]\d{11})'/g)].map(([, one = '']) => one);
        expect(found.toSorted()).toEqual([...migrations].toSorted());
      }
  });
});
