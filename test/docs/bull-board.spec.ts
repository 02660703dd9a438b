import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, expect, it } from '@jest/globals';
import { bullMq } from '@dundun/messaging/bullmq';
import ts from 'typescript';
import { DispatchFixture } from '../integration/dispatch/dispatch-fixture.js';
import { describeOneDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { describeWithServer } from '../support/servers.js';
import { blocks, ROOT } from './markdown-blocks.js';

describeWithServer('redis', 'the sample of Bull Board', (url) => {
  describeOneDatabase('an app with BullMQ', (database) => {
    const fixture = new DispatchFixture(database);
    afterEach(() => fixture.clear());

    it('shows the lane of a message as a job', async () => {
      const queue = `board-${randomBytes(6).toString('hex')}`;
      const api = await fixture.boot({
        engine: bullMq({ connection: url, queue }),
        dispatch: false,
      });
      await api.send('Hello');

      const port = await freePort();
      const [block] = blocks().filter(({ code }) => code.includes('@bull-board/fastify'));
      const placed = (block?.code ?? '')
        .replace("'dundun'", `'${queue}'`)
        .replace('3010', String(port));
      const { outputText } = ts.transpileModule(placed, {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
      });
      const board = spawn(process.execPath, ['--input-type=module', '--eval', outputText], {
        cwd: ROOT,
        env: { PATH: process.env['PATH'], REDIS_URL: url },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      try {
        await eventually(async () => {
          const answer = await fetch(
            `http://127.0.0.1:${port}/lanes/api/queues?activeQueue=${queue}`,
          );
          expect(await answer.json()).toMatchObject({
            queues: [{ name: queue, readOnlyMode: true, jobs: [expect.anything()] }],
          });
        });
      } finally {
        board.kill();
        await once(board, 'exit');
      }
    });
  });
});
