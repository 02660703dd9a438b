import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of Debian's packages; `probe-servers.js` has the same. */
const PROGRAMS = {
  bearerbox: '/usr/sbin/bearerbox',
  smsbox: '/usr/sbin/smsbox',
  fakesmsc: '/usr/lib/kannel/test/fakesmsc',
} as const;

export type Program = keyof typeof PROGRAMS;

export function isKannelInstalled(): boolean {
  return Object.values(PROGRAMS).every((path) => existsSync(path));
}

/** Kannel's programs, run in one directory with their logs. */
export class KannelPrograms {
  readonly #running = new Map<Program, ChildProcess>();

  constructor(readonly directory: string) {}

  pid(program: Program): number {
    const pid = this.#running.get(program)?.pid;
    if (pid === undefined) throw new Error(`${program} does not run`);
    return pid;
  }

  async spawn(program: Program, args: readonly string[]): Promise<void> {
    const output = await open(join(this.directory, `${program}.out`), 'a');
    const child = spawn(PROGRAMS[program], args, {
      cwd: this.directory,
      stdio: ['ignore', output.fd, output.fd],
    });
    await once(child, 'spawn');
    await output.close();
    this.#running.set(program, child);
    // Kannel would outlive a killed test process.
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
  }

  /** @param signal without one, waits until the program ends by itself */
  async end(program: Program, signal?: NodeJS.Signals): Promise<void> {
    const child = this.#running.get(program);
    this.#running.delete(program);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    if (signal) child.kill(signal);
    await exit;
  }

  /** Content of one of their files; empty where it does not exist yet. */
  read(file: string): Promise<string> {
    return readFile(join(this.directory, file), 'utf8').catch(() => '');
  }
}
