import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Processes } from '../e2e/gateway/built-gateway.js';
import { packagesOfReadme } from '../frame/fresh-app.js';
import { buildGateway } from '../support/builds.js';
import { Guide } from './guide.js';
import { ROOT } from './markdown-blocks.js';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const NEST_12 = {
  manager: 'npm',
  nest: 12,
  server: 'express',
  runner: 'jest',
  builder: 'swc',
} as const;

const processes = new Processes();
let guide: Guide | undefined;
beforeAll(() => buildGateway());
afterAll(async () => {
  await guide?.close();
  await processes.destroy();
});

it('its commands run as written against a fresh gateway, on every channel', async () => {
  const gateway = await processes.gateway();
  const [token] = await gateway.told(/tok_[0-9A-Za-z]{49}/);
  const [key] = await gateway.told(/svk_\w+/);
  const database = `sqlite:${join(await processes.directory(), 'gateway.sqlite')}`;
  const places = { 'tok_…': token ?? '', 'svk_…': key ?? '', 'http://127.0.0.1:3000': gateway.url };
  guide = await Guide.open('README.md', places, { DATABASE_URL: database });
  await guide.walk(2);
  const answers = (await guide.walk(1))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(answers).toHaveLength(7);
  expect(answers.filter((one) => 'error' in one)).toEqual([]);
  expect(await guide.walk()).toMatch(/"to":"2348012345678"[^]*account_id +acc_/);
});

it('its install line is that of the library, which a suite of its own runs in fresh apps', async () => {
  const names = (await packagesOfReadme(NEST_12)).filter((name) => name !== '@dundun/dashboard');
  expect(README).toContain(`\nnpm install ${names.join(' ')}\n`);
});

it('its picture of the portal has at most 200 KB', async () => {
  const [, path = ''] = /!\[The portal[^\]]*\]\(([^)]+)\)/.exec(README) ?? [];
  expect((await stat(join(ROOT, path))).size).toBeLessThanOrEqual(200_000);
});

it('each promise has its proof', () => {
  const [, table = ''] = /^\| Promise .*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(README) ?? [];
  const rows = table.trim().split('\n');
  expect(rows).toHaveLength(5);
  for (const row of rows) expect(row).toMatch(/\]\(test\/[\w/.-]+\.ts\)/);
});

it('the column of Dundun leads to tests that are there', () => {
  const rows = README.split('\n')
    .filter((line) => line.split('|').length === 8)
    .slice(2);
  for (const row of rows) {
    const tests = [...(row.split('|')[2] ?? '').matchAll(/\]\((test\/[^)]+)\)/g)];
    expect([row, tests.length > 0]).toEqual([row, true]);
    for (const [, path = ''] of tests)
      expect(readFileSync(join(ROOT, path), 'utf8').split('\n').length).toBeGreaterThan(20);
  }
});

it('no link to pages of others ends in .md', () => {
  expect(README).not.toMatch(/\]\(https:[^)]*\.md\)/);
});

it('each cell of the comparison that is no word of our own has its proof', () => {
  const rows = README.split('\n').filter(
    (line) => /^\| (?!\||---)/.test(line) && line.split('|').length === 8,
  );
  expect(rows.length).toBeGreaterThanOrEqual(6);
  for (const row of rows)
    for (const cell of row.split('|').slice(2, -1))
      expect(cell.trim()).toMatch(/\]\((?:https?:\/\/|docs\/|test\/)|^your code$/);
});
