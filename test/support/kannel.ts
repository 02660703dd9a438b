import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { type KannelPorts, kannelConfiguration } from './kannel-configuration.js';

/** Debian's places; `probe-servers.js` looks for the same. */
const PROGRAMS = {
  bearerbox: '/usr/sbin/bearerbox',
  smsbox: '/usr/sbin/smsbox',
  fakesmsc: '/usr/lib/kannel/test/fakesmsc',
} as const;

type Program = keyof typeof PROGRAMS;

/** A message as it reached the network. */
export interface SmscMessage {
  readonly from: string;
  readonly to: string;
  readonly encoding: 'text' | 'ucs-2' | 'data';
  readonly text: string;
  /** Which part of a long text it is, percent-encoded. */
  readonly header: string | undefined;
}

export function isKannelInstalled(): boolean {
  return Object.values(PROGRAMS).every((path) => existsSync(path));
}

export interface KannelOptions {
  /** Every step, for tests; not where speed is measured. @default true */
  readonly log?: boolean;
  /** Where it calls with what people write. */
  readonly inboundUrl?: string;
  /** What somebody writes once it has started, as fakesmsc is told: `{from} {to} {type} {text}`. */
  readonly written?: string;
}

/**
 * A whole Kannel on free loopback ports, in a directory of its own: bearerbox (router and store), smsbox
 * (HTTP) and a network that delivers everything.
 */
export class Kannel {
  readonly username = 'tester';
  readonly password = 'kannel-pass-1';
  readonly #running = new Map<Program, ChildProcess>();

  private constructor(
    private readonly directory: string,
    private readonly ports: KannelPorts,
    private readonly written: string | undefined,
  ) {}

  static async start({ log = true, inboundUrl, written }: KannelOptions = {}): Promise<Kannel> {
    const directory = await mkdtemp(join(tmpdir(), 'dundun-kannel-'));
    const [admin, boxes, sendsms, network] = (await freePorts(4)) as [
      number,
      number,
      number,
      number,
    ];
    const self = new Kannel(directory, { admin, boxes, sendsms, network }, written);
    const { username, password } = self;
    for (const spool of ['messages', 'reports']) await mkdir(join(directory, spool));
    await writeFile(
      join(directory, 'kannel.conf'),
      kannelConfiguration({ directory, log, inboundUrl, ports: self.ports, username, password }),
    );
    try {
      await self.startBoxes();
      await self.startNetwork();
    } catch (error) {
      const said = await self.#read('bearerbox.out');
      await self.stop();
      throw new Error(`Kannel did not start:\n${said}`, { cause: error });
    }
    return self;
  }

  /** Of its sendsms. */
  get url(): string {
    return `http://127.0.0.1:${this.ports.sendsms}/cgi-bin/sendsms`;
  }

  /** Of a program that runs. */
  pid(program: Program): number {
    const pid = this.#running.get(program)?.pid;
    if (pid === undefined) throw new Error(`${program} does not run`);
    return pid;
  }

  async startBoxes(): Promise<void> {
    await this.#spawn('bearerbox', ['kannel.conf']);
    await eventually(async () => void (await this.#status()));
    await this.#spawn('smsbox', ['kannel.conf']);
    await this.#until('smsbox', (status) => status.includes('smsbox:box1'));
    await eventually(async () => void (await answerOf(this.url)));
  }

  async startNetwork(): Promise<void> {
    const port = String(this.ports.network);
    const [count, message] =
      this.written === undefined ? ['0', '0 0 text unused'] : ['1', this.written];
    const told = ['-H', '127.0.0.1', '-r', port, '-i', '1', '-m', count, message];
    await this.#spawn('fakesmsc', told);
    await this.#until('fakesmsc', (status) => /FAKE:\d+ \(online/.test(status));
  }

  async stopNetwork(): Promise<void> {
    await this.#end('fakesmsc', 'SIGTERM');
    await this.#until('bearerbox', (status) => !/FAKE:\d+ \(online/.test(status));
  }

  /** `kill -9` of bearerbox. Its smsbox first ends the callbacks it is about, and takes nothing meanwhile. */
  async killBearerbox(): Promise<void> {
    const smsbox = await this.#read('smsbox.log');
    await this.#end('bearerbox', 'SIGKILL');
    await eventually(async () => {
      const since = (await this.#read('smsbox.log')).slice(smsbox.length);
      if (!since.includes('watch_timers) terminates')) throw new Error('smsbox has not ended');
    });
    // Now it would sleep ten seconds and start itself again.
    await this.#end('smsbox', 'SIGKILL');
    await this.#end('fakesmsc', 'SIGKILL');
  }

  /** What reached the network, in its order. */
  async delivered(): Promise<SmscMessage[]> {
    const lines = (await this.#read('fakesmsc.out')).split('\n');
    return lines.flatMap((line) => {
      const match = /Got message \d+: <(.+?) (\d+) (?:udh (\S+) )?(text|ucs-2|data) (.*)>$/.exec(
        line,
      );
      if (!match) return [];
      const [, from, to, header, encoding, written] = match as unknown as [
        string,
        string,
        string,
        string | undefined,
        SmscMessage['encoding'],
        string,
      ];
      return [
        {
          from,
          to,
          encoding,
          header,
          text:
            encoding === 'ucs-2'
              ? fromUcs2(written)
              : encoding === 'data'
                ? fromPercents(written).toString('utf8')
                : written,
        },
      ];
    });
  }

  /** Numbers smsbox was asked to send to and took, in that order. */
  async taken(): Promise<string[]> {
    const log = await this.#read('smsbox-access.log');
    return [...log.matchAll(/send-SMS request added .* target:(\d+) /g)].map(
      ([, to]) => to as string,
    );
  }

  /** Numbers whose delivery bearerbox heard of and then could not tell: it no longer found whom to. */
  async reportsLost(): Promise<string[]> {
    const log = await this.#read('bearerbox.log');
    return [...log.matchAll(/DLR from SMSC<FAKE> for DST<(\d+)> not found/g)].map(
      ([, to]) => to as string,
    );
  }

  async stop(): Promise<void> {
    for (const program of ['fakesmsc', 'smsbox', 'bearerbox'] as const)
      await this.#end(program, 'SIGKILL');
    await rm(this.directory, { recursive: true, force: true });
  }

  async #spawn(program: Program, args: readonly string[]): Promise<void> {
    const output = await open(join(this.directory, `${program}.out`), 'a');
    const child = spawn(PROGRAMS[program], args, {
      cwd: this.directory,
      stdio: ['ignore', output.fd, output.fd],
    });
    await once(child, 'spawn');
    await output.close();
    this.#running.set(program, child);
    // Kannel outlives whoever started it and was stopped in haste.
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
  }

  async #end(program: Program, signal: NodeJS.Signals): Promise<void> {
    const child = this.#running.get(program);
    this.#running.delete(program);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }

  async #status(): Promise<string> {
    const url = `http://127.0.0.1:${this.ports.admin}/status.txt?password=${this.password}`;
    return (await answerOf(url)).text();
  }

  async #until(program: Program, holds: (status: string) => boolean): Promise<void> {
    await eventually(async () => {
      if (!holds(await this.#status()))
        throw new Error(
          `${program} is not where it should be:\n${await this.#read(`${program}.out`)}`,
        );
    });
  }

  #read(file: string): Promise<string> {
    return readFile(join(this.directory, file), 'utf8').catch(() => '');
  }
}

/** Kannel may be asked before it answers anybody. */
function answerOf(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(5_000) });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

function fromPercents(text: string): Buffer {
  const bytes = text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9A-F]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(bytes, 'latin1');
}

function fromUcs2(text: string): string {
  return fromPercents(text).swap16().toString('utf16le');
}
