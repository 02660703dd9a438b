import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { buildPackages } from '../support/builds.js';

const root = join(import.meta.dirname, '../..');
const run = (args: readonly string[], cwd = root) =>
  promisify(execFile)(process.execPath, [...args], { cwd, maxBuffer: 2 ** 26 }).catch(
    (error: unknown) => {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${stdout}${stderr}`, { cause: error });
    },
  );

/** Folder from which each app takes Nest. */
const NESTS = {
  11: join(root, 'test/nest11/node_modules'),
  12: join(root, 'node_modules'),
} as const;

describe('the packages as they are published, in apps of their own', () => {
  let data: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'dundun-packed-'));
    const packages = await buildPackages();
    for (const nest of [11, 12] as const) await install(data, nest, packages);
  });

  afterAll(() => rm(data, { recursive: true, force: true }));

  // tsc reads the declarations that the library's build made, which lack its internal members.
  it('the dashboard compiles against the published types of the library', async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    await expect(run([tsc, '-p', 'libs/dashboard', '--noEmit'])).resolves.toBeDefined();
  });

  it.each([11, 12] as const)(
    'import and require of the dashboard share its classes on Nest %d',
    async (nest) => {
      const { stdout } = await run(
        [
          '--input-type=module',
          '--eval',
          `import { createRequire } from 'node:module';
           import { MessagingDashboardModule } from '@dundun/dashboard';
           import { MessageHistory } from '@dundun/messaging/operations';
           const require = createRequire(process.cwd() + '/app.mjs');
           console.log(
             require('@dundun/dashboard').MessagingDashboardModule === MessagingDashboardModule,
             require('@dundun/messaging/operations').MessageHistory === MessageHistory,
           );`,
        ],
        join(data, `nest${nest}`),
      );
      expect(stdout.trim()).toBe('true true');
    },
  );

  it.each([
    [11, 'express', ''],
    [11, 'fastify', 'v1/inner'],
    [12, 'express', 'v1/inner'],
    [12, 'fastify', ''],
  ] as const)(
    'on Nest %d and %s below %j: page, deep link, asset and API need the guard',
    async (nest, platform, prefix) => {
      const { stdout } = await run(
        [
          'app.mjs',
          platform,
          prefix,
          join(data, `${nest}-${platform}.sqlite`),
          './sqlite-driver.mjs',
        ],
        join(data, `nest${nest}`),
      );
      const { version, open, closed } = JSON.parse(stdout) as Record<string, unknown>;
      expect(version).toMatch(new RegExp(`^${nest}\\.`));
      const json = expect.stringMatching(/^application\/json/);
      const html = 'text/html; charset=utf-8';
      expect(open).toEqual({
        page: [200, html],
        link: [200, html],
        asset: [200, 'text/javascript; charset=utf-8'],
        unknown: [404, json],
        context: [200, json],
        messages: [200, json],
        send: [403, json],
      });
      expect(closed).toEqual(
        Object.fromEntries(Object.keys(open as object).map((name) => [name, [403, json]])),
      );
    },
  );
});

/** An app's directory, with the packages as npm would unpack them beside its other dependencies. */
async function install(data: string, nest: 11 | 12, packages: string): Promise<void> {
  const app = join(data, `nest${nest}`);
  const modules = join(app, 'node_modules');
  await mkdir(join(modules, '@dundun'), { recursive: true });
  await mkdir(join(modules, '@nestjs'));
  for (const from of [NESTS[nest], join(root, 'node_modules')])
    for (const name of await namesIn(from))
      await symlink(join(from, name), join(modules, name)).catch(() => undefined);
  for (const name of ['messaging', 'dashboard']) {
    const to = join(modules, '@dundun', name);
    await mkdir(to);
    const packed = join(packages, `${name}.tgz`);
    await promisify(execFile)('tar', ['-xzf', packed, '-C', to, '--strip-components=1']);
  }
  await cp(join(import.meta.dirname, 'packed-dashboard/app.mjs'), join(app, 'app.mjs'));
  const driver = await readFile(join(root, 'src/config/sqlite-driver.ts'), 'utf8');
  const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(driver, { compilerOptions: options });
  await writeFile(join(app, 'sqlite-driver.mjs'), outputText);
}

/** Packages, those of the scope `@nestjs` one by one. */
async function namesIn(modules: string): Promise<string[]> {
  const names = await readdir(modules);
  const nest = await readdir(join(modules, '@nestjs'));
  return [
    ...names.filter((name) => !name.startsWith('.') && name !== '@nestjs' && name !== '@dundun'),
    ...nest.map((name) => `@nestjs/${name}`),
  ];
}
