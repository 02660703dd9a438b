import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** PgBouncer in transaction mode before the server of a database. */
export class PgBouncer {
  private constructor(
    private readonly directory: string,
    private readonly child: ChildProcess,
    /** The database's address through it. */
    readonly url: string,
  ) {}

  static async before(database: string): Promise<PgBouncer> {
    const { hostname, port, username, pathname } = new URL(database);
    const directory = await mkdtemp(join(tmpdir(), 'dundun-pgbouncer-'));
    await chmod(directory, 0o755);
    const own = await freePort();
    const file = join(directory, 'pgbouncer.ini');
    await writeFile(
      file,
      `[databases]
* = host=${hostname} port=${port || 5432} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
`,
    );
    // It refuses to run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    const child = spawn('/usr/sbin/pgbouncer', ['-q', ...user, file], { stdio: 'ignore' });
    const made = new PgBouncer(
      directory,
      child,
      `postgres://${username}@127.0.0.1:${own}${pathname}`,
    );
    await eventually(async () => {
      const client = new Client({ connectionString: made.url });
      await client.connect();
      await client.end();
    });
    return made;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    await rm(this.directory, { recursive: true });
  }
}
