import { jest } from '@jest/globals';
import { runCommandLine } from '../../../src/cli/command-line.js';

/** Result of a process. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs the command line to its end, as a process of its own would in `directory` and with nothing but
 * `settings` around it, without the seconds that one takes to start. One after the other.
 */
export function commandLine(
  args: readonly string[],
  settings: Record<string, string>,
  directory: string,
): Promise<Ended> {
  const ended = turn.then(() => run(args, settings, directory));
  turn = ended.catch(() => undefined);
  return ended;
}

async function run(
  args: readonly string[],
  settings: Record<string, string>,
  directory: string,
): Promise<Ended> {
  const { env, exitCode } = process;
  const before = process.cwd();
  const { isTTY } = process.stdout;
  process.stdout.isTTY = false;
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    jest.spyOn(process[name], 'write').mockImplementation((chunk) => {
      written[name] += String(chunk);
      return true;
    }),
  );
  // Node would write warnings of the whole worker, such as those of earlier suites, to stderr.
  const warned = process.rawListeners('warning') as ((warning: Error) => void)[];
  process.removeAllListeners('warning');
  process.chdir(directory);
  process.env = settings;
  process.exitCode = undefined;
  try {
    await runCommandLine(['node', 'dundun', ...args]);
    return { code: Number(process.exitCode ?? 0), ...written };
  } finally {
    process.chdir(before);
    process.stdout.isTTY = isTTY;
    process.env = env;
    process.exitCode = exitCode;
    for (const listener of warned) process.on('warning', listener);
    for (const spy of spies) spy.mockRestore();
  }
}
