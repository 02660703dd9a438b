import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Processes } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { eventually } from '../support/eventually.js';
import { CompiledSources } from './compiled-sources.js';
import { failuresOf, GatewayTraffic } from './gateway-traffic.js';
import { seedOf } from './processes/chance.js';
import { Seed } from './seed.js';

const full = process.env['CHAOS'] === 'full';
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? (full ? 600 : 4));
const PER_SECOND = Number(process.env['CHAOS_RATE'] ?? (full ? 100 : 20));

describe('two writers on one SQLite file', () => {
  let processes: Processes;
  let locker: ChildProcess | undefined;
  let traffic: GatewayTraffic | undefined;
  beforeEach(async () => {
    processes = new Processes();
    await buildGateway();
  });
  afterEach(async () => {
    await traffic?.close();
    locker?.kill('SIGKILL');
    await processes.destroy();
  });

  it('no request hangs or fails while another process takes the write lock, messages leave in order, and erasures by the command line run', async () => {
    const seed = new Seed();
    seed.begin('two writers');
    const sources = await CompiledSources.make();
    const path = join(await processes.directory(), 'gateway.sqlite');
    const own = (traffic = await GatewayTraffic.begin(processes, sources, path));
    const { gateway, settings } = own;
    const drawn = String(seedOf(seed.value, 'locker'));
    locker = fork(sources.path('locker.process.js'), [path, drawn], { execArgv: [] });
    own.start(PER_SECOND);
    const until = performance.now() + SECONDS * 1_000;
    let erased = 0;
    const erasing = (async () => {
      do {
        const command = ['contact', 'erase', '--account', own.account, '--phone', '2348010000000'];
        const ended = await processes.dundunProcess(command, settings);
        expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)]);
        erased++;
      } while (performance.now() < until);
    })();
    while (performance.now() < until) await pause(100);
    await erasing;
    await own.stop();
    locker.send('end');
    const [{ taken }] = (await once(locker, 'message')) as [{ taken: number }];
    const answers = own.take();
    const asked = [...answers.counts.values()].reduce((sum, count) => sum + count, 0);
    if (full || process.env['CHAOS_SECONDS'])
      process.stdout.write(
        `two writers: ${asked} requests, slowest ${Math.round(answers.slowest)} ms, ${answers.hangs.length} hang; the lock taken ${taken} times, ${erased} erasures; ${JSON.stringify(Object.fromEntries(answers.counts))}\n`,
      );
    const told = gateway.output.split('\n').filter((line) => /"level":"(warn|error)"/.test(line));
    const replay = `CHAOS_SEED=${seed.value} npm test -- test/chaos/two-writers.spec.ts`;
    const failures = failuresOf(answers);
    if (failures.length > 0) process.stdout.write(`${told.slice(-40).join('\n')}\n`);
    expect({ replay, failures }).toEqual({ replay, failures: [] });
    expect(taken).toBeGreaterThan(0);
    const last = own.accepted.at(-1) ?? '';
    await eventually(async () => expect(await own.completed(last)).toBe(true), 60_000);
    expect((await own.ready()).status).toBe(200);
    expect(await own.passed()).toEqual([]);
  });
});
