import { describe, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Each test starts jest.
jest.setTimeout(120_000);

const root = join(import.meta.dirname, '../..');

interface Run {
  readonly code: number;
  readonly lines: string[];
}

/** Both outputs go to one file, as on a terminal, because the order of the lines is tested. */
async function runJest(fixture: string, env: Record<string, string>): Promise<Run> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    join(root, 'node_modules/jest/bin/jest.js'),
    '--config=test/frame/skipped/jest.config.js',
    fixture,
  ];
  const directory = await mkdtemp(join(tmpdir(), 'dundun-run-'));
  const output = await open(join(directory, 'output'), 'a+');
  try {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, REQUIRE_SERVERS: '0', ...env },
      stdio: ['ignore', output.fd, output.fd],
    });
    const [code] = (await once(child, 'exit')) as [number];
    const text = await readFile(join(directory, 'output'), 'utf8');
    return { code, lines: text.trimEnd().split('\n') };
  } finally {
    await output.close();
    await rm(directory, { recursive: true });
  }
}

describe('a run of the tests', () => {
  // No server listens on port 1.
  const missing = [
    'skipped: broker of its own on redis — no redis-server',
    'skipped: store on postgres — no server at 127.0.0.1:1',
  ];
  const env = { TEST_POSTGRES_URL: 'postgres://postgres@127.0.0.1:1/postgres' };

  it('a test run without a server passes and names the skipped suites and the servers', async () => {
    const { code, lines } = await runJest('needs-postgres', env);
    expect(lines.slice(-3)).toEqual(['1 passed, 0 failed, 2 skipped', ...missing]);
    expect(code).toBe(0);
  });

  it('a test run without a required server fails', async () => {
    const { code, lines } = await runJest('needs-postgres', { ...env, REQUIRE_SERVERS: '1' });
    expect(lines.slice(-4)).toEqual([
      '1 passed, 0 failed, 2 skipped',
      'failed: REQUIRE_SERVERS=1 lets no suite be skipped',
      ...missing,
    ]);
    expect(code).toBe(1);
  });

  it('a complete test run says that no suite was skipped', async () => {
    const { code, lines } = await runJest('needs-nothing', { REQUIRE_SERVERS: '1' });
    expect(lines.slice(-2)).toEqual(['2 passed, 0 failed, 0 skipped', 'no suite was skipped']);
    expect(code).toBe(0);
  });

  it('a test run counts the failed tests', async () => {
    const { code, lines } = await runJest('needs-nothing', { FIXTURE_FAILS: '1' });
    expect(lines.slice(-2)).toEqual(['1 passed, 1 failed, 0 skipped', 'no suite was skipped']);
    expect(code).toBe(1);
  });
});
