import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

const SERVER = '/usr/sbin/mariadbd';
const INSTALL = '/usr/bin/mariadb-install-db';

/** A MariaDB of one suite alone, which it may kill or change as a whole. */
export class PrivateMariaDb {
  #server: ChildProcess | undefined;

  private constructor(
    private readonly directory: string,
    private readonly port: number,
  ) {}

  /** Why there can be none here; `undefined`: there can. */
  static get missing(): string | undefined {
    return [SERVER, INSTALL].every((file) => existsSync(file)) ? undefined : 'no MariaDB binaries';
  }

  static async start(): Promise<PrivateMariaDb> {
    const directory = await mkdtemp(join(tmpdir(), 'dundun-mariadb-'));
    await chmod(directory, 0o777);
    const made = new PrivateMariaDb(directory, await freePort());
    const options = [
      '--no-defaults',
      `--datadir=${made.#data}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      ...asUser(),
    ];
    await promisify(execFile)(INSTALL, options, { env: made.#environment });
    await made.#start();
    const connection = await createConnection({ uri: made.#root });
    await connection.query('CREATE DATABASE own CHARACTER SET utf8mb4');
    await connection.end();
    return made;
  }

  get url(): string {
    return `${this.#root}/own`;
  }

  /** Connections are cut and the log is replayed. */
  async crash(): Promise<void> {
    await this.#stop();
    await this.#start();
  }

  async remove(): Promise<void> {
    await this.#stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  get #root(): string {
    return `mysql://root@127.0.0.1:${this.port}`;
  }

  get #data(): string {
    return join(this.directory, 'data');
  }

  /** A server that starts deletes the temporary tables in its directory for them: it has its own. */
  get #environment(): NodeJS.ProcessEnv {
    return { ...process.env, TMPDIR: this.directory };
  }

  async #start(): Promise<void> {
    this.#server = spawn(
      SERVER,
      [
        '--no-defaults',
        `--datadir=${this.#data}`,
        `--port=${this.port}`,
        `--socket=${join(this.directory, 'socket')}`,
        '--bind-address=127.0.0.1',
        ...asUser(),
      ],
      { stdio: 'ignore', env: this.#environment },
    );
    await eventually(async () => (await createConnection({ uri: this.#root })).end(), 60_000);
  }

  async #stop(): Promise<void> {
    if (!this.#server || this.#server.exitCode !== null) return;
    const exited = once(this.#server, 'exit');
    this.#server.kill('SIGKILL');
    await exited;
  }
}

/** MariaDB refuses to run as root without this option. */
function asUser(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}
