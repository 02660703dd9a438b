import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const app = join(root, 'test/nest11');
/** A copy instead of the workspace's link: the library's imports must resolve to Nest 11. */
const installed = join(app, 'node_modules/@dundun/messaging');

const node = (args: string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, args, { cwd: root });
const tsc = (...args: string[]): Promise<{ stdout: string }> =>
  node([join(root, 'node_modules/typescript/bin/tsc'), ...args]).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  });

describe('the library as it is published', () => {
  let data: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'dundun-nest11-'));
    const dist = join(installed, 'dist');
    await tsc('-p', 'libs/messaging', '--outDir', dist, '--tsBuildInfoFile', join(data, 'info'));
    await cp(join(root, 'libs/messaging/package.json'), join(installed, 'package.json'));
    await tsc('-p', 'test/nest11');
    // Two compilations.
  });

  afterAll(async () => {
    for (const made of [installed, join(app, 'dist'), data])
      await rm(made, { recursive: true, force: true });
  });

  it('the packed library compiles into a Nest 11 app and delivers a message', async () => {
    const main = join(app, 'dist/test/nest11/app.js');
    const { stdout } = await node([main, join(data, 'app.sqlite')]);
    expect(JSON.parse(stdout)).toEqual({
      nest: [expect.stringMatching(/^11\./), expect.stringMatching(/^11\./)],
      counts: { delivered: 1 },
      heard: 1,
    });
  });

  it('the packed library loads without its optional peers unless what needs them is imported', async () => {
    const hooks = join(data, 'absent.mjs');
    await writeFile(
      hooks,
      `export const resolve = (name, context, next) => {
         if (/^(bullmq|ioredis|(nodemailer|html-to-text|postal-mime|smtp-server)\\b.*)$/.test(name)) throw new Error(name + ' is not installed');
         return next(name, context);
       };`,
    );
    const main = join(data, 'main.mjs');
    await writeFile(
      main,
      `import { register } from 'node:module';
       register(${JSON.stringify(pathToFileURL(hooks).href)});
       const { MessagingModule } = await import(${JSON.stringify(entry('index.js'))});
       const absent = await import(${JSON.stringify(entry('engines/bullmq/index.js'))}).catch(({ message }) => message);
       const mail = await import(${JSON.stringify(entry('providers/smtp/index.js'))}).catch(({ message }) => message);
       console.log(JSON.stringify([typeof MessagingModule, absent, mail]));`,
    );
    const { stdout } = await node([main]);
    expect(JSON.parse(stdout)).toEqual([
      'function',
      'bullmq is not installed',
      expect.stringMatching(/^(nodemailer|html-to-text).* is not installed$/),
    ]);
  });
});

function entry(file: string): string {
  return pathToFileURL(join(installed, 'dist', file)).href;
}
