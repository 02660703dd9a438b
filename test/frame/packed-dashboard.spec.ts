import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';

// Compiles the libraries and packs them.
jest.setTimeout(180_000);

const root = join(import.meta.dirname, '../..');
const run = (args: readonly string[], cwd = root) =>
  promisify(execFile)(process.execPath, [...args], { cwd, maxBuffer: 2 ** 26 }).catch(
    (error: unknown) => {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${stdout}${stderr}`, { cause: error });
    },
  );
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const vite = join(root, 'node_modules/vite/bin/vite.js');

/** Folder from which each app takes Nest. */
const NESTS = {
  11: join(root, 'test/nest11/node_modules'),
  12: join(root, 'node_modules'),
} as const;

describe('the packages as they are published, in apps of their own', () => {
  let data: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'dundun-packed-'));
    await symlink(join(root, 'node_modules'), join(data, 'node_modules'));
    // The library's types refer to the build of this one.
    await run([tsc, '-b', 'libs/smpp']);
    for (const name of ['messaging', 'dashboard']) {
      const from = join(root, 'libs', name);
      const copy = join(data, name);
      // Without the project's references: the dashboard is compiled against the library's types.
      const settings = join(data, `${name}.json`);
      const compilerOptions = {
        rootDir: join(from, 'src'),
        outDir: join(copy, 'dist'),
        tsBuildInfoFile: join(data, `${name}.info`),
        typeRoots: [join(root, 'node_modules/@types')],
        paths: {
          '@dundun/messaging': [join(data, 'messaging/dist/package/index.d.cts')],
          '@dundun/messaging/*': [join(data, 'messaging/dist/package/*.d.cts')],
          '@dundun/smpp': [join(root, 'libs/smpp/dist/index.d.ts')],
        },
      };
      const include = [join(from, 'src')];
      const own = {
        extends: join(from, 'tsconfig.json'),
        compilerOptions,
        references: [],
        include,
      };
      await writeFile(
        settings,
        JSON.stringify({ ...own, exclude: [join(from, 'src/**/*.spec.ts')] }),
      );
      await run([tsc, '-p', settings]);
      if (name === 'messaging')
        await run(['libs/messaging/bundle.js', join(copy, 'dist'), join(copy, 'dist/package')]);
      for (const file of ['package.json', 'README.md', 'LICENSE'])
        await cp(join(from, file), join(copy, file)).catch(() => undefined);
    }
    const pages = ['--outDir', join(data, 'dashboard/dist/ui'), '--emptyOutDir'];
    await run([vite, 'build', '-c', 'libs/dashboard/ui/vite.config.ts', ...pages]);
    for (const name of ['messaging', 'dashboard'])
      await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', data], {
        cwd: join(data, name),
      });
    for (const nest of [11, 12] as const) await install(data, nest);
  });

  afterAll(() => rm(data, { recursive: true, force: true }));

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
async function install(data: string, nest: 11 | 12): Promise<void> {
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
    const packed = join(data, `dundun-${name}-0.1.0.tgz`);
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
