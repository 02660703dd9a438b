import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CarrierType } from './carrier-type.js';
import { CARRIER_TYPES } from './carrier-types.js';
import { CARRIER_KEYS } from './carrier-variables.js';

const types = Object.entries<CarrierType>(CARRIER_TYPES);

describe('docs/carriers.md', () => {
  const docs = join(import.meta.dirname, '../../docs');
  const cell = (text: string | undefined) => (text === undefined ? '–' : `\`${text}\``);

  it('has a section for every type, with its channels and keys, their defaults and variables', async () => {
    const page = await readFile(join(docs, 'carriers.md'), 'utf8');
    for (const [type, { settings, channels = [] }] of types) {
      const [, section = ''] = page.split(`\n## \`${type}\`\n`);
      const [own = ''] = section.split('\n## ');
      const rows = [...own.matchAll(/^\| `([a-z_]+)` \| (.+?) \| (.+?) \| .{8,} \|$/gm)];
      expect([type, ...rows.map(([, ...cells]) => cells)]).toEqual([
        type,
        ...Object.entries(settings).map(([key, { default: usual, optional }]) => [
          key,
          usual === undefined && !optional ? 'required' : cell(usual),
          cell(
            Object.keys(CARRIER_KEYS).find((name) => {
              const { type: of, key: one } = CARRIER_KEYS[name] ?? {};
              return of === type && one === key;
            }),
          ),
        ]),
      ]);
      const [carries = ''] = own.split('\n').filter((line) => line.startsWith('Carries '));
      expect(channels.filter((channel) => !carries.includes(`\`${channel}\``))).toEqual([]);
      expect(carries).not.toBe('');
    }
  });

  it('configuration.md names the key of every variable of a carrier', async () => {
    const page = await readFile(join(docs, 'configuration.md'), 'utf8');
    for (const name of Object.keys(CARRIER_KEYS)) {
      const { type, key } = CARRIER_KEYS[name] ?? {};
      const [row = ''] = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`));
      const text = type ? `\`${key}\` of [\`${type}\`](carriers.md#${type})` : `\`${key}\` of`;
      expect(row).toContain(text);
    }
  });
});
