import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { buildPackages } from '../support/builds.js';

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

/** Entries of providers. */
const ALL = readdirSync(join(root, 'libs/messaging/src/providers'), { withFileTypes: true })
  .filter(({ name, parentPath }) => existsSync(join(parentPath, name, 'index.ts')))
  .map(({ name }) => name);

/** Those that need no package of their own. */
const PROVIDERS = ALL.filter((name) => !['smpp', 'smtp', 'ses'].includes(name));

describe('the library as it is published', () => {
  let data: string;
  /** A script that makes optional packages absent. */
  let absent: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'dundun-nest11-'));
    const packed = join(await buildPackages(), 'messaging.tgz');
    await mkdir(installed, { recursive: true });
    await promisify(execFile)('tar', ['-xzf', packed, '-C', installed, '--strip-components=1']);
    await tsc('-p', 'test/nest11');
    absent = join(data, 'absent.cjs');
    await writeFile(
      absent,
      `const Module = require('node:module');
       const resolve = Module._resolveFilename;
       Module._resolveFilename = (name, ...rest) => {
         if (/^(bullmq|ioredis|node-sqlite3-wasm|@dundun\\/smpp|@nestjs\\/terminus|@opentelemetry\\/api|(nodemailer|postal-mime|smtp-server)\\b.*)$/.test(name)) throw new Error(name + ' is not installed');
         return resolve(name, ...rest);
       };`,
    );
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
    const main = join(data, 'main.mjs');
    await writeFile(
      main,
      `const { MessagingModule } = await import(${JSON.stringify(entry('index.js'))});
       const absent = await import(${JSON.stringify(entry('bullmq.js'))}).catch(({ message }) => message);
       const mail = await import(${JSON.stringify(entry('smtp.js'))}).catch(({ message }) => message);
       const smpp = await import(${JSON.stringify(entry('smpp.js'))}).catch(({ message }) => message);
       console.log(JSON.stringify([typeof MessagingModule, absent, mail, smpp]));`,
    );
    const { stdout } = await node(['--require', absent, main]);
    expect(JSON.parse(stdout)).toEqual([
      'function',
      'bullmq is not installed',
      expect.stringMatching(/^nodemailer.* is not installed$/),
      '@dundun/smpp is not installed',
    ]);
  });

  it.each(PROVIDERS)(
    'an app that imports the provider %s loads no other and no optional package',
    async (name) => {
      const main = join(data, `only-${name}.mjs`);
      await writeFile(
        main,
        `import { createRequire } from 'node:module';
         await import(${JSON.stringify(entry('index.js'))});
         await import(${JSON.stringify(entry(`${name}.js`))});
         console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`,
      );
      const { stdout } = await node(['--require', absent, main]);
      const code = await Promise.all(
        (JSON.parse(stdout) as string[])
          .filter((file) => file.startsWith(join(installed, 'dist/package/code')))
          .map((file) => readFile(file, 'utf8')),
      );
      const loaded = await Promise.all(
        PROVIDERS.map(async (provider) => {
          const exported = await readFile(join(installed, `dist/package/${provider}.js`), 'utf8');
          const names = /export const \{([^}]*)\}/.exec(exported)?.[1]?.match(/\w+/g) ?? [];
          return names.filter((one) => code.some((text) => text.includes(`function ${one}(`)));
        }),
      );
      expect(PROVIDERS.filter((_, n) => loaded[n]?.length)).toEqual([name]);
    },
  );

  it('the error of a wrong option of a provider or verifier begins with the name of its function', async () => {
    const main = join(data, 'options.mjs');
    await writeFile(
      main,
      `const said = {};
       for (const entry of ${JSON.stringify(['index', ...ALL].map((name) => entry(`${name}.js`)))}) {
         const { hmacSignature, basicAuth, sharedSecret, http, simulator, ...others } = await import(entry);
         const shared = { hmacSignature, basicAuth, sharedSecret, http, simulator };
         const functions = entry.endsWith('/index.js') ? shared : others;
         for (const [name, make] of Object.entries(functions)) {
           if (/Parser$|^[A-Z]/.test(name)) continue;
           try {
             make({ noSuchOption: 1 });
             said[name] = 'no error';
           } catch (error) {
             said[name] = error.message;
           }
         }
       }
       console.log(JSON.stringify(said));`,
    );
    const { stdout } = await node([main]);
    const said = Object.entries(JSON.parse(stdout) as Record<string, string>);
    expect(said.length).toBeGreaterThan(30);
    expect(said.filter(([name, error]) => !new RegExp(`^${name}\\b.*: `).test(error))).toEqual([]);
  });

  it.each([
    'index',
    'bullmq',
    'inbound',
    'operations',
    'ports',
    'queue',
    'smtp',
    'terminus',
    'testing',
  ])('import and require of the entry %s share its classes', async (name) => {
    const main = join(data, `both-${name}.mjs`);
    await writeFile(
      main,
      `import { createRequire } from 'node:module';
         const imported = await import(${JSON.stringify(entry(`${name}.js`))});
         const required = createRequire(import.meta.url)(${JSON.stringify(join(installed, `dist/package/${name}.cjs`))});
         const names = Object.keys(imported);
         console.log(JSON.stringify([names.length > 0, names.filter((name) => imported[name] !== required[name])]));`,
    );
    const { stdout } = await node([main]);
    expect(JSON.parse(stdout)).toEqual([true, []]);
  });
});

function entry(file: string): string {
  return pathToFileURL(join(installed, 'dist/package', file)).href;
}
