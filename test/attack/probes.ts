import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';

const PROBE = join(import.meta.dirname, 'probe.js');

/**
 * Priority of the attacker's program in a full run: it gets what the gateway and the probes leave, as if it had a
 * machine of its own. Only root may raise the priority again.
 */
const LOW_PRIORITY = process.env['ATTACK'] === 'full' && process.getuid?.() === 0 ? 15 : undefined;

/** Milliseconds between two requests of a kind. */
const PAUSE = 20;

/** A request that another process makes again and again; it must be answered with 200. */
export interface Probe {
  readonly name: string;
  readonly url: string;
  /** @default 'GET' */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Times of the answers of each kind, in milliseconds, ascending. */
export type Times = Readonly<Record<string, readonly number[]>>;

/**
 * Runs `work` while a process of its own makes requests of several kinds.
 * @param least requests of each kind
 * @throws where one of them fails
 */
export async function whileProbed<T>(
  probes: readonly Probe[],
  least: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly times: Times }> {
  const given = JSON.stringify({ probes, pause: PAUSE, least });
  const probe = fork(PROBE, [given], { execArgv: [], silent: true });
  let errors = '';
  probe.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const told = once(probe, 'message');
  const died = once(probe, 'close').then(([code, signal]) => {
    throw new Error(`the probes ended with ${String(code ?? signal)}: ${errors}`);
  });
  died.catch(() => undefined);
  try {
    if (LOW_PRIORITY !== undefined) setPriority(LOW_PRIORITY);
    const result = await Promise.race([work(), died]);
    probe.send('end', () => undefined);
    const [{ times, error }] = (await Promise.race([told, died])) as [
      { times: Record<string, number[]>; error?: string },
    ];
    if (error !== undefined) throw new Error(error);
    for (const own of Object.values(times)) own.sort((a, b) => a - b);
    return { result, times };
  } finally {
    if (LOW_PRIORITY !== undefined) setPriority(0);
    probe.kill('SIGKILL');
  }
}

/** The time that 99 of 100 answers did not exceed, in milliseconds. */
export function p99(times: readonly number[] = []): number {
  return times[Math.ceil(times.length * 0.99) - 1] ?? Infinity;
}
