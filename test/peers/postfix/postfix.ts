import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../support/free-port.js';

const run = promisify(execFile);

/** `smtp-sink` on a free port, with options such as `-q .`. */
export async function smtpSink(
  ...options: readonly string[]
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const port = await freePort();
  const child: ChildProcess = spawn(
    '/usr/sbin/smtp-sink',
    ['-u', 'nobody', ...options, `127.0.0.1:${port}`, '100'],
    { stdio: 'ignore' },
  );
  await once(child, 'spawn');
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  return {
    url: `smtp://127.0.0.1:${port}`,
    close: async () => {
      process.off('exit', end);
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

interface PostfixOptions {
  /** Port of a policy server, such as Postgrey. */
  readonly policy?: number;
  /** Further lines of `main.cf`, or other values of its lines. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A Postfix of its own in a temporary directory, that relays by a table and keeps no mail. */
export class Postfix {
  private constructor(
    private readonly directory: string,
    readonly port: number,
  ) {}

  /** @param routes next hops by domain, such as `bounce.example.com` to `[127.0.0.1]:2525` */
  static async start(
    routes: Readonly<Record<string, string>>,
    { policy, settings = {} }: PostfixOptions = {},
  ): Promise<Postfix> {
    const directory = await mkdtemp(join(tmpdir(), 'dundun-postfix-'));
    await chmod(directory, 0o755);
    const port = await freePort();
    const at = (name: string) => join(directory, name);
    for (const name of ['etc', 'spool', 'data']) await mkdir(at(name));
    await run('chown', ['postfix', at('data')]);
    const transports = Object.entries(routes).map(([domain, hop]) => `${domain} smtp:${hop}`);
    await writeFile(
      at('etc/transport'),
      [...transports, '* error:5.1.2 no such domain', ''].join('\n'),
    );
    const checks = policy === undefined ? [] : [`check_policy_service inet:127.0.0.1:${policy}`];
    await writeFile(
      at('etc/main.cf'),
      [
        'compatibility_level = 3.6',
        `queue_directory = ${at('spool')}`,
        `data_directory = ${at('data')}`,
        'command_directory = /usr/sbin',
        'daemon_directory = /usr/lib/postfix/sbin',
        'mail_owner = postfix',
        'setgid_group = postdrop',
        'inet_interfaces = 127.0.0.1',
        'inet_protocols = ipv4',
        'myhostname = relay.test',
        'mydestination =',
        'mynetworks = 127.0.0.0/8',
        'alias_maps =',
        'alias_database =',
        `transport_maps = texthash:${at('etc/transport')}`,
        'smtp_dns_support_level = disabled',
        `smtpd_recipient_restrictions = ${[...checks, 'permit_mynetworks', 'reject'].join(', ')}`,
        'smtputf8_enable = no',
        `maillog_file = ${at('maillog')}`,
        `maillog_file_prefixes = ${directory}`,
        'minimal_backoff_time = 300s',
        ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
        '',
      ].join('\n'),
    );
    const daemons = await readFile('/usr/share/postfix/master.cf.dist', 'utf8');
    await writeFile(
      at('etc/master.cf'),
      daemons
        .replace(/^smtp +inet .*$/m, `127.0.0.1:${port} inet n - n - - smtpd`)
        .replaceAll(/^(\S+ +\S+ +\S+ +\S+ +)y /gm, '$1n ')
        .concat('\npostlog unix-dgram n - n - 1 postlogd\n'),
    );
    const self = new Postfix(directory, port);
    await self.#postfix('start').catch(async (error: unknown) => {
      throw new Error(`postfix does not start:\n${await self.log()}`, { cause: error });
    });
    return self;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  log(): Promise<string> {
    return readFile(join(this.directory, 'maillog'), 'utf8').catch(() => '');
  }

  async stop(): Promise<void> {
    await this.#postfix('abort').catch(() => undefined);
    await rm(this.directory, { recursive: true, force: true });
  }

  #postfix(command: string) {
    return run('/usr/sbin/postfix', ['-c', join(this.directory, 'etc'), command]);
  }
}

/**
 * Postgrey that refuses each new triplet for `delay` seconds.
 * @param free domains of recipients that it does not refuse
 */
export async function postgrey(
  delay: number,
  free: readonly string[] = [],
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-postgrey-'));
  await chmod(directory, 0o777);
  const whitelist = join(directory, 'recipients');
  await writeFile(whitelist, `${free.join('\n')}\n`);
  const port = await freePort();
  const child = spawn(
    '/usr/sbin/postgrey',
    [
      `--inet=127.0.0.1:${port}`,
      `--dbdir=${directory}`,
      `--delay=${delay}`,
      '--auto-whitelist-clients=0',
      `--whitelist-recipients=${whitelist}`,
      '--user=postgrey',
    ],
    { stdio: 'ignore' },
  );
  await once(child, 'spawn');
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  return {
    port,
    close: async () => {
      process.off('exit', end);
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
