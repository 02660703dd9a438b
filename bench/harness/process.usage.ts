import { readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks of `/proc`: 100 a second on every Linux. */
const TICK = 10;

/** Milliseconds of CPU the process has used, user and system; NaN without `/proc`. */
export function cpuMilliseconds(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK;
}

/** Milliseconds of CPU that all processes and the kernel have used; NaN without `/proc`. */
export function machineCpuMilliseconds(): number {
  const [, user, nice, system, , , interrupts, softInterrupts] = read('/proc/stat').split(/\s+/);
  return [user, nice, system, interrupts, softInterrupts].reduce(
    (sum, ticks) => sum + Number(ticks) * TICK,
    0,
  );
}

/** Resident memory now, in MiB. */
export function memory(pid: number): number {
  return status(pid, 'VmRSS');
}

/** Highest resident memory since {@link resetPeak}, in MiB, by the kernel. */
export function peakMemory(pid: number): number {
  return status(pid, 'VmHWM');
}

export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Other systems have no /proc: the figures are NaN and shown as a dash.
  }
}

function status(pid: number, field: string): number {
  const match = new RegExp(`${field}:\\s+(\\d+) kB`).exec(read(`/proc/${pid}/status`));
  return Number(match?.[1] ?? Number.NaN) / 1_024;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
