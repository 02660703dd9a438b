import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { readEnvironment, VARIABLES } from './environment.js';
import type { Variable } from './variable.js';

const docs = join(import.meta.dirname, '../../docs');

describe('docs/configuration.md', () => {
  it('says of every variable what the code does', async () => {
    const page = await readFile(join(docs, 'configuration.md'), 'utf8');
    expect(page).toContain(configurationTable());
  });

  it.each(['development', 'test', 'production'])('the %s example can be used', async (name) => {
    const example = parseEnv(await readFile(join(docs, 'environments', `${name}.env`), 'utf8'));
    expect(Object.keys(example).filter((key) => !Object.hasOwn(VARIABLES, key))).toEqual([]);
    expect(readEnvironment(example as Record<string, string>).NODE_ENV).toBe(name);
  });
});

/** The settings as the rows of a Markdown table: name, default, description. */
function configurationTable(): string {
  return [
    '| Variable | Default | What it does |',
    '|---|---|---|',
    ...Object.entries<Variable<unknown>>(VARIABLES).map(
      ([name, variable]) =>
        `| \`${name}\` | ${variable.default === undefined ? '–' : `\`${variable.default}\``} | ${variable.description} |`,
    ),
  ].join('\n');
}
