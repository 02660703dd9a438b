import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';

/** From the bench, over IPC: begins the profile of a stage; `null` ends it. */
export type ProfileRequest = { readonly profile: string | null };

const session = new Session();
let stage: string | null = null;

/** Loaded into a process with `--import`: writes a CPU profile for each stage, `BENCH_STAGES/stage.cpuprofile`. */
session.connect();
process.on('message', ({ profile }: ProfileRequest) => void change(profile));
process.channel?.unref();

async function change(next: string | null): Promise<void> {
  const ended = stage;
  stage = next;
  if (ended !== null) {
    const { profile } = await session.post('Profiler.stop');
    await writeFile(`${process.env['BENCH_STAGES']}/${ended}.cpuprofile`, JSON.stringify(profile));
  }
  if (next !== null) {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  }
  process.send?.({ profile: next });
}
