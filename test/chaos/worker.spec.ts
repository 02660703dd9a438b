import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describeEachDatabase } from '../support/databases.js';
import { CompiledSources } from './compiled-sources.js';
import { LaneOrders } from './order.js';
import { Upstream } from './upstream.js';

describeEachDatabase('a worker process without an HTTP server', (database) => {
  let sources: CompiledSources;
  let upstream: Upstream;
  beforeAll(async () => {
    sources = await CompiledSources.make();
    upstream = await Upstream.start(sources.path('upstream.process.js'), 1);
  });
  afterAll(() => upstream?.stop());

  it.each([
    ['its own handler closes the app: nothing keeps it alive', 'own', [0, null]],
    ['Nest’s shutdown hooks: they end, and the signal ends it', 'nest', [null, 'SIGTERM']],
  ])('a worker without a server keeps order and ends on SIGTERM (%s)', async (_, hooks, end) => {
    const script = sources.path('worker.process.js');
    const worker = spawn(process.execPath, [script, database.url, upstream.url, hooks], {
      // Without a listener to messages, the channel keeps no process alive.
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const lanes = new LaneOrders();
    lanes.follow(worker);
    const exited = once(worker, 'exit');
    try {
      const [said] = (await once(worker.stdout!, 'data')) as [Buffer];
      expect(said.toString()).toBe('sent\n');
      worker.kill('SIGTERM');
      expect(await exited).toEqual(end);
      expect(await lanes.passed(await database.open())).toEqual([]);
    } finally {
      worker.kill('SIGKILL');
    }
  });
});
