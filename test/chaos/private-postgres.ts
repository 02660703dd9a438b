import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.js';

const HOME = '/usr/lib/postgresql';

/** A PostgreSQL of one suite alone, which it may restart as it likes. */
export class PrivatePostgres {
  private constructor(
    private readonly directory: string,
    private readonly port: number,
  ) {}

  /** Why there can be none here; `undefined`: there can. */
  static get missing(): string | undefined {
    if (binaries() === undefined) return 'no PostgreSQL binaries';
    return isRoot() && spawnSync('id', ['-u', 'postgres']).status !== 0
      ? 'root, and no user postgres'
      : undefined;
  }

  static async start(): Promise<PrivatePostgres> {
    const directory = await mkdtemp(join(tmpdir(), 'dundun-postgres-'));
    await chmod(directory, 0o777);
    const made = new PrivatePostgres(directory, await freePort());
    await run('initdb', '-D', made.#data, '-U', 'postgres', '-A', 'trust', '--no-sync');
    await made.#control('start');
    return made;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** Like a crash: connections are cut and the log is replayed. */
  async crash(): Promise<void> {
    await this.#control('restart');
  }

  async remove(): Promise<void> {
    await this.#control('stop');
    await rm(this.directory, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.directory, 'data');
  }

  async #control(command: 'start' | 'restart' | 'stop'): Promise<void> {
    const settings = `-p ${this.port} -k ${this.directory} -c listen_addresses=127.0.0.1`;
    const log = join(this.directory, 'log');
    await run(
      'pg_ctl',
      '-D',
      this.#data,
      '-l',
      log,
      '-o',
      settings,
      '-m',
      'immediate',
      '-w',
      '-t',
      '240',
      command,
    );
  }
}

function binaries(): string | undefined {
  if (!existsSync(HOME)) return undefined;
  return readdirSync(HOME)
    .map((version) => join(HOME, version, 'bin'))
    .find((path) => existsSync(join(path, 'initdb')));
}

/** PostgreSQL refuses to run as root. */
async function run(program: string, ...args: string[]): Promise<void> {
  const path = join(binaries() ?? '', program);
  const [file, all] = isRoot()
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
    : [path, args];
  await promisify(execFile)(file, all, { cwd: tmpdir() });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
