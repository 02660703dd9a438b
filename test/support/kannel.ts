import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { type KannelPorts, kannelConfiguration } from './kannel-configuration.js';
import { KannelPrograms, type Program } from './kannel-programs.js';
import { type SmscMessage, smscMessages } from './kannel-messages.js';

export interface KannelOptions {
  /** Logs every step; benches switch it off. @default true */
  readonly log?: boolean;
  /** The URL for inbound messages. */
  readonly inboundUrl?: string;
  /** Inbound message that fakesmsc sends after the start: `{from} {to} {type} {text}`. */
  readonly written?: string;
  /** Port of an SMSC to which bearerbox binds as `kannel`, `secret`, instead of fakesmsc. */
  readonly smscPort?: number;
  /** Each change of the spool is on the disk before Kannel goes on; needs `chattr` and root. @default false */
  readonly syncsSpool?: boolean;
}

/**
 * A whole Kannel on free loopback ports, in a directory of its own: bearerbox (router and store), smsbox
 * (HTTP) and a network that delivers everything.
 */
export class Kannel {
  readonly username = 'tester';
  readonly password = 'kannel-pass-1';

  private constructor(
    private readonly programs: KannelPrograms,
    private readonly ports: KannelPorts,
    private readonly written: string | undefined,
  ) {}

  static async start({
    log = true,
    inboundUrl,
    written,
    smscPort,
    syncsSpool = false,
  }: KannelOptions = {}): Promise<Kannel> {
    const directory = await mkdtemp(join(tmpdir(), 'dundun-kannel-'));
    const [admin, boxes, sendsms, network] = (await freePorts(4)) as [
      number,
      number,
      number,
      number,
    ];
    const self = new Kannel(
      new KannelPrograms(directory),
      { admin, boxes, sendsms, network: smscPort ?? network },
      written,
    );
    const { username, password } = self;
    for (const spool of ['messages', 'reports']) await mkdir(join(directory, spool));
    if (syncsSpool) await promisify(execFile)('chattr', ['+SD', join(directory, 'messages')]);
    await writeFile(
      join(directory, 'kannel.conf'),
      kannelConfiguration({
        directory,
        log,
        isSmpp: smscPort !== undefined,
        inboundUrl,
        ports: self.ports,
        username,
        password,
      }),
    );
    try {
      await self.startBoxes();
      if (smscPort === undefined) await self.startNetwork();
    } catch (error) {
      const said = await self.programs.read('bearerbox.out');
      await self.stop();
      throw new Error(`Kannel did not start:\n${said}`, { cause: error });
    }
    return self;
  }

  /** Address of sendsms. */
  get url(): string {
    return `http://127.0.0.1:${this.ports.sendsms}/cgi-bin/sendsms`;
  }

  /** Process id of a running program. */
  pid(program: Program): number {
    return this.programs.pid(program);
  }

  async startBoxes(): Promise<void> {
    await this.programs.spawn('bearerbox', ['kannel.conf']);
    await eventually(async () => void (await this.#status()));
    await this.programs.spawn('smsbox', ['kannel.conf']);
    await this.#until('smsbox', (status) => status.includes('smsbox:box1'));
    await eventually(async () => void (await answerOf(this.url)));
  }

  async startNetwork(): Promise<void> {
    const port = String(this.ports.network);
    const [count, message] =
      this.written === undefined ? ['0', '0 0 text unused'] : ['1', this.written];
    const told = ['-H', '127.0.0.1', '-r', port, '-i', '1', '-m', count, message];
    await this.programs.spawn('fakesmsc', told);
    await this.#until('fakesmsc', (status) => /FAKE:\d+ \(online/.test(status));
  }

  async stopNetwork(): Promise<void> {
    await this.programs.end('fakesmsc', 'SIGTERM');
    await this.#until('bearerbox', (status) => !/FAKE:\d+ \(online/.test(status));
  }

  /** Kills bearerbox with SIGKILL. Its smsbox first ends its callbacks, and accepts no request meanwhile. */
  async killBearerbox(): Promise<void> {
    const smsbox = await this.programs.read('smsbox.log');
    await this.programs.end('bearerbox', 'SIGKILL');
    await eventually(async () => {
      const since = (await this.programs.read('smsbox.log')).slice(smsbox.length);
      if (!since.includes('watch_timers) terminates')) throw new Error('smsbox has not ended');
      // smsbox may hang in its shutdown, on a lock of its HTTP server; its callbacks have ended by then.
    }).catch(() => undefined);
    // At this point smsbox would sleep ten seconds and restart itself.
    await this.programs.end('smsbox', 'SIGKILL');
    // The network reads every message that it was sent.
    await this.programs.end('fakesmsc');
  }

  /** Messages that reached the network, in order. */
  async delivered(): Promise<SmscMessage[]> {
    return smscMessages(await this.programs.read('fakesmsc.out'));
  }

  /** Numbers of the requests that smsbox accepted, in that order. */
  async taken(): Promise<string[]> {
    const log = await this.programs.read('smsbox-access.log');
    return [...log.matchAll(/send-SMS request added .* target:(\d+) /g)].map(
      ([, to]) => to as string,
    );
  }

  /** Numbers whose delivery report bearerbox dropped, as it no longer found the message. */
  async reportsLost(): Promise<string[]> {
    const log = await this.programs.read('bearerbox.log');
    return [...log.matchAll(/DLR from SMSC<FAKE> for DST<(\d+)> not found/g)].map(
      ([, to]) => to as string,
    );
  }

  async stop(): Promise<void> {
    for (const program of ['fakesmsc', 'smsbox', 'bearerbox'] as const)
      await this.programs.end(program, 'SIGKILL');
    await rm(this.programs.directory, { recursive: true, force: true });
  }

  async #status(): Promise<string> {
    const url = `http://127.0.0.1:${this.ports.admin}/status.txt?password=${this.password}`;
    return (await answerOf(url)).text();
  }

  async #until(program: Program, holds: (status: string) => boolean): Promise<void> {
    await eventually(async () => {
      if (!holds(await this.#status()))
        throw new Error(
          `${program} is not where it should be:\n${await this.programs.read(`${program}.out`)}`,
        );
    });
  }
}

/** A caller may connect before Kannel listens. */
function answerOf(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(5_000) });
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
