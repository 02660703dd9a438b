import { expect, it } from '@jest/globals';
import { dueTask } from './due-task.js';

const lane = (valid = true, stopping = new AbortController().signal) => ({ valid, stopping });

it('a task runs when its work is due, and not before', async () => {
  const [runs, waits] = [[] as AbortSignal[], [5, 0]];
  const task = dueTask(lane(), {
    underWay: 'a look',
    dueIn: () => Promise.resolve(waits.shift() ?? 0),
    run: async (stop) => runs.push(stop),
  });
  await task.pump();
  expect(runs).toEqual([]);
  await task.pump();
  expect(runs).toHaveLength(1);
  task.abort();
  expect(runs[0]?.aborted).toBe(true);
});

it('a task of a lost lane, or of a process that stops, does not run', async () => {
  const runs: string[] = [];
  for (const leased of [lane(false), lane(true, AbortSignal.abort())])
    await dueTask(leased, {
      underWay: 'a look',
      dueIn: () => Promise.resolve(0),
      run: async () => runs.push('run'),
    }).pump();
  expect(runs).toEqual([]);
});
