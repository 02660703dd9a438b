import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { commandLine, type Ended } from './command-line.js';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'dist/src/main.js');
const PROBE = join(ROOT, 'test/support/process-probe.js');
const HALT = join(ROOT, 'test/support/halt-in-migration.js');
const CLI = join(ROOT, 'src/cli/dundun.js');

const DATABASE = { DATABASE_URL: 'sqlite:gateway.sqlite' };

/** Processes on one temporary directory, with nothing of the environment around. */
export class Processes {
  #directory: string | undefined;
  readonly #running = new Set<ChildProcess>();

  /** Working directory of the processes, with their SQLite file. */
  async directory(): Promise<string> {
    return (this.#directory ??= await mkdtemp(join(tmpdir(), 'dundun-processes-')));
  }

  /** Runs a command, in this process. */
  async dundun(args: readonly string[], settings: Record<string, string> = {}): Promise<Ended> {
    return commandLine(args, { ...DATABASE, ...settings }, await this.directory());
  }

  /** Runs a command in a process of its own. */
  async dundunProcess(
    args: readonly string[],
    settings: Record<string, string> = {},
  ): Promise<Ended> {
    return this.#end(await this.#spawn([CLI, ...args], settings));
  }

  /** Runs a command in a process of its own, with its output piped into another program. */
  async dundunInto(args: readonly string[], reader: string): Promise<Ended> {
    const command = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
    const child = spawn('sh', ['-c', `${command} | ${reader}`], {
      cwd: await this.directory(),
      env: { PATH: process.env['PATH'], ...DATABASE },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return this.#end(child);
  }

  /** Starts the gateway and waits until it listens. */
  async gateway(settings: Record<string, string> = {}): Promise<RunningGateway> {
    const child = await this.#spawn([MAIN], { PORT: '0', ...settings });
    return RunningGateway.started(child, this.#end(child));
  }

  /**
   * A gateway that loads `module` first and has an IPC channel.
   * @param meet called with its process before that runs
   */
  async gatewayWith(
    module: string,
    settings: Record<string, string>,
    meet: (child: ChildProcess) => void,
  ): Promise<RunningGateway> {
    const args = ['--import', pathToFileURL(module).href, MAIN];
    const child = await this.#spawn(args, { PORT: '0', ...settings }, ['ipc']);
    meet(child);
    return RunningGateway.started(child, this.#end(child));
  }

  /** A gateway that also reports its memory and its turns. */
  async probedGateway(settings: Record<string, string> = {}): Promise<ProbedGateway> {
    const args = ['--expose-gc', '--import', pathToFileURL(PROBE).href, MAIN];
    const child = await this.#spawn(args, { PORT: '0', ...settings }, ['ipc']);
    return ProbedGateway.of(await RunningGateway.started(child, this.#end(child)));
  }

  /** Starts a gateway that halts after creating `table`; resolves then with a kill function. */
  async haltedGateway(
    table: string,
    settings: Record<string, string>,
  ): Promise<() => Promise<unknown>> {
    const child = await this.#spawn(
      ['--import', pathToFileURL(HALT).href, MAIN],
      { PORT: '0', HALT_AFTER: table, ...settings },
      ['ipc'],
    );
    const ended = this.#end(child);
    const early = ended.then((end) => {
      throw new Error(`the gateway did not halt: ${end.stdout}${end.stderr}`);
    });
    early.catch(() => undefined);
    await Promise.race([once(child, 'message'), early]);
    return () => {
      child.kill('SIGKILL');
      return ended;
    };
  }

  /** Starts a gateway that is expected to end by itself. */
  async failingGateway(settings: Record<string, string>): Promise<Ended> {
    return this.#end(await this.#spawn([MAIN], { PORT: '0', ...settings }));
  }

  /** Kills the process that was started first. */
  killFirst(): void {
    for (const child of [...this.#running].slice(0, 1)) child.kill('SIGKILL');
  }

  async destroy(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL');
    await Promise.all([...this.#running].map((child) => once(child, 'exit')));
    if (this.#directory) await rm(this.#directory, { recursive: true, force: true });
  }

  async #spawn(
    args: readonly string[],
    settings: Record<string, string>,
    channels: readonly 'ipc'[] = [],
  ): Promise<ChildProcess> {
    const child = spawn(process.execPath, args, {
      cwd: await this.directory(),
      env: { PATH: process.env['PATH'], ...DATABASE, ...settings },
      stdio: ['ignore', 'pipe', 'pipe', ...channels],
    });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }

  async #end(child: ChildProcess): Promise<Ended> {
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  }
}

/** A gateway in a process of its own. */
export class RunningGateway {
  #output = '';

  private constructor(
    readonly child: ChildProcess,
    readonly url: string,
    readonly ended: Promise<Ended>,
  ) {}

  static async started(child: ChildProcess, ended: Promise<Ended>): Promise<RunningGateway> {
    const url = new Promise<string>((resolve) => {
      let seen = '';
      child.stdout?.on('data', (chunk: string) => {
        seen += chunk;
        const listening = /"url":"([^"]+)"/.exec(seen)?.[1];
        if (listening) resolve(listening);
      });
    });
    const failed = ended.then((end) => {
      throw new Error(`the gateway ended with ${end.code}: ${end.stdout}${end.stderr}`);
    });
    failed.catch(() => undefined);
    const output: string[] = [];
    child.stdout?.on('data', (chunk: string) => output.push(chunk));
    const gateway = new RunningGateway(child, await Promise.race([url, failed]), ended);
    gateway.#output = output.join('');
    child.stdout?.on('data', (chunk: string) => (gateway.#output += chunk));
    return gateway;
  }

  /** Its output so far. */
  get output(): string {
    return this.#output;
  }

  /** Once it has printed this: it listens before it tells of its account. */
  async told(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found) return found;
      await once(this.child.stdout!, 'data');
    }
  }

  stop(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** Memory of a process after a full garbage collection. */
export interface Rest {
  /** Bytes of heap and external memory. */
  readonly bytes: number;
  /** Most bytes of memory the process ever had. */
  readonly peak: number;
  /** Open handles and requests by kind. */
  readonly handles: Readonly<Record<string, number>>;
}

/** A gateway process that reports its memory and its turns. */
export class ProbedGateway {
  #questions = 0;

  private constructor(private readonly gateway: RunningGateway) {}

  static of(gateway: RunningGateway): ProbedGateway {
    return new ProbedGateway(gateway);
  }

  get url(): string {
    return this.gateway.url;
  }

  get output(): string {
    return this.gateway.output;
  }

  told(pattern: RegExp): Promise<RegExpExecArray> {
    return this.gateway.told(pattern);
  }

  get pid(): number {
    return this.gateway.child.pid ?? 0;
  }

  rest(): Promise<Rest> {
    return this.#ask('rest');
  }

  /** The most CPU time, in ms, of one turn of its event loop since the last call. */
  longestTurn(): Promise<number> {
    return this.#ask('longestTurn');
  }

  /** Those of `texts` that are in its heap after a collection. */
  async found(texts: readonly string[]): Promise<string[]> {
    const bytes = texts.map((text) => Buffer.from(text).toString('base64'));
    return (await this.#ask<number[]>('search', bytes)).map((index) => texts[index] ?? '');
  }

  #ask<T>(ask: string, about?: unknown): Promise<T> {
    const { child } = this.gateway;
    const id = ++this.#questions;
    return new Promise((resolve) => {
      const hear = (message: unknown): void => {
        const told = message as { id: number; answer: T };
        if (told.id !== id) return;
        child.off('message', hear);
        resolve(told.answer);
      };
      child.on('message', hear);
      child.send({ id, ask, about });
    });
  }
}
