import { readFile } from 'node:fs/promises';
import type { Profiler } from 'node:inspector';

/** Functions that are named in a summary. */
const MOST = 12;

/** Frames that are no work of the process: waiting, and the native profiler. */
const LEFT_OUT: ReadonlySet<string> = new Set(['(idle)', 'dispatch (native)']);

/** The functions with the most CPU time of their own in a profile: a line with their shares. */
export async function summaryOf(file: string): Promise<string> {
  const profile = JSON.parse(await readFile(file, 'utf8')) as Profiler.Profile;
  const own = new Map<string, number>();
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  let busy = 0;
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const name = names.get(id) || '(anonymous)';
    if (LEFT_OUT.has(name)) continue;
    const time = profile.timeDeltas?.[index] ?? 0;
    busy += time;
    own.set(name, (own.get(name) ?? 0) + time);
  }
  return [...own]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST)
    .map(([name, time]) => `${name} ${((time / busy) * 100).toFixed(1)}%`)
    .join(', ');
}

function nameOf({ functionName, url }: Profiler.ProfileNode['callFrame']): string {
  return url === '' && functionName === 'dispatch' ? 'dispatch (native)' : functionName;
}
