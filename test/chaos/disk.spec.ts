import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { describeUnless } from '../support/servers.js';
import { CompiledSources } from './compiled-sources.js';
import { dataSourceOptions } from './processes/data-source-options.js';

const STRACE = 'strace';
const TRACE = ['-f', '-y', '-s', '16', '-e', 'trace=write,pwrite64,fsync,fdatasync'];
const missing = spawnSync(STRACE, ['true']).status === 0 ? undefined : 'no strace';

describeUnless(
  missing,
  'what SQLite has confirmed is on the disk, as strace sees it on sqlite',
  () => {
    let directory: string;
    let calls: string[];
    beforeAll(async () => {
      directory = await realpath(await mkdtemp(join(tmpdir(), 'dundun-disk-')));
      const url = `sqlite:${join(directory, 'app.sqlite')}`;
      const source = await new DataSource(dataSourceOptions(url)).initialize();
      await source.query('PRAGMA journal_mode = WAL');
      await source.query('CREATE TABLE kept (value INTEGER)');
      // The last connection to close deletes the log; the next one creates a new log.
      await source.destroy();
      const sources = await CompiledSources.make();
      const trace = join(directory, 'trace');
      const script = sources.path('disk.process.js');
      await promisify(execFile)(STRACE, [...TRACE, '-o', trace, process.execPath, script, url]);
      calls = (await readFile(trace, 'utf8')).split('\n');
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));

    /** The last system call before the caller is answered. */
    function lastBefore(told: string, call: RegExp): number {
      return calls
        .slice(
          0,
          calls.findIndex((line) => line.includes(`"${told}\\n"`)),
        )
        .findLastIndex((line) => call.test(line));
    }

    it.each(['store', 'caller'])(
      'a commit of the %s survives a power loss right after its promise resolved',
      (told) => {
        const written = lastBefore(told, /pwrite64\(\d+<[^>]*-wal>/);
        expect(written).toBeGreaterThan(-1);
        expect(lastBefore(told, /f(data)?sync\(\d+<[^>]*-wal>/)).toBeGreaterThan(written);
      },
    );

    it('a new write-ahead log survives a power loss because its directory is synced', () => {
      expect(lastBefore('store', new RegExp(`fsync\\(\\d+<${directory}>`))).toBeGreaterThan(-1);
    });
  },
);
