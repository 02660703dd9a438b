import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { digestKeyOf } from './digest-key.js';

describe('digestKeyOf without SECRETS_KEY', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'dundun-key-'))));
  afterEach(() => rm(directory, { recursive: true }));

  it('the key is made once, in a file of its own that only its user reads', async () => {
    const path = join(directory, 'new', 'gateway.sqlite');
    const settings = { SECRETS_KEY: undefined, DATABASE_URL: { type: 'sqlite', path } } as const;
    const secrets = { seal: () => '', open: () => '' };
    // The database is never asked.
    const key = () => digestKeyOf({} as DataSource, secrets, settings);
    const first = await key();
    expect(Buffer.from(first, 'base64')).toHaveLength(32);
    expect(await key()).toBe(first);
    expect((await readFile(`${path}.digest-key`, 'utf8')).trim()).toBe(first);
    expect((await stat(`${path}.digest-key`)).mode & 0o777).toBe(0o600);
  });
});
