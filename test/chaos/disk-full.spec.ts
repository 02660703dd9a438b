import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { type FileHandle, mkdtemp, open, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Processes } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { eventually } from '../support/eventually.js';
import { describeUnless } from '../support/servers.js';
import { CompiledSources } from './compiled-sources.js';
import { failuresOf, GatewayTraffic } from './gateway-traffic.js';

const full = process.env['CHAOS'] === 'full';
const ROUNDS = Number(process.env['CHAOS_ROUNDS'] ?? (full ? 20 : 1));
const PER_SECOND = 60;
/** Log lines of a second with a full disk: some for each kind of work. */
const MOST_LINES = 20;

const run = promisify(execFile);
/** It needs the right to mount, as this suite does. */
const UNSHARE = 'unshare';
const mountable = spawnSync(UNSHARE, ['-m', 'true']).status === 0;

async function appendUntilFull(file: FileHandle, block: Buffer): Promise<void> {
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

describeUnless(
  mountable ? undefined : 'no right to mount',
  'a disk that is full and free again, on a small file system on sqlite',
  () => {
    let processes: Processes;
    let directory: string;
    let traffic: GatewayTraffic | undefined;
    beforeEach(async () => {
      processes = new Processes();
      directory = await mkdtemp(join(tmpdir(), 'dundun-full-'));
      await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', directory]);
      await buildGateway();
    });
    afterEach(async () => {
      await traffic?.close();
      await processes.destroy();
      // Lazily: SQLite's files may be closed a moment later.
      await run('umount', ['-l', directory]);
      await rm(directory, { recursive: true });
    });

    /** Takes all room that is left. */
    async function fill(ballast: string): Promise<void> {
      const file = await open(ballast, 'a');
      try {
        for (const size of [1_048_576, 4_096]) await appendUntilFull(file, Buffer.alloc(size));
      } finally {
        await file.close();
      }
    }

    it('sends are refused while the disk is full, and each round all surfaces work again without a restart and messages leave in order', async () => {
      const sources = await CompiledSources.make();
      const path = join(directory, 'gateway.sqlite');
      const own = (traffic = await GatewayTraffic.begin(processes, sources, path));
      const { gateway } = own;
      const ballast = join(directory, 'ballast');
      const lines = () => gateway.output.split('\n').length;
      const counts: Record<string, number> = {};
      for (let round = 1; round <= ROUNDS; round++) {
        own.start(PER_SECOND);
        await eventually(async () =>
          expect(own.answers.counts.get('sendsms 200') ?? 0).toBeGreaterThan(0),
        );
        await fill(ballast);
        const [before, since] = [lines(), performance.now()];
        await eventually(async () =>
          expect(await own.ready()).toMatchObject({
            status: 503,
            body: { error: { database: { status: 'down', reason: 'full' } } },
          }),
        );
        await eventually(async () =>
          expect(own.answers.counts.get('sendsms 503') ?? 0).toBeGreaterThan(0),
        );
        const perSecond = (lines() - before) / ((performance.now() - since) / 1_000);
        await truncate(ballast, 0);
        await own.stop();
        for (const [key, count] of own.take().counts) counts[key] = (counts[key] ?? 0) + count;
        await eventually(async () => expect((await own.ready()).status).toBe(200));
        own.start(PER_SECOND);
        await eventually(async () =>
          expect(own.answers.counts.get('schedule sms 200') ?? 0).toBeGreaterThan(3),
        );
        await own.stop();
        const after = own.take();
        expect({ round, failures: failuresOf(after) }).toEqual({ round, failures: [] });
        expect(perSecond).toBeLessThan(MOST_LINES);
        if (full || process.env['CHAOS_ROUNDS'])
          process.stdout.write(
            `round ${round}: ${Math.round(perSecond)} lines a second, slowest ${Math.round(after.slowest)} ms after it\n`,
          );
      }
      if (full || process.env['CHAOS_ROUNDS']) process.stdout.write(`${JSON.stringify(counts)}\n`);
      const last = own.accepted.at(-1) ?? '';
      await eventually(async () => expect(await own.completed(last)).toBe(true), 60_000);
      expect(await own.passed()).toEqual([]);
    });
  },
);
