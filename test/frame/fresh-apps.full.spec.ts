import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Each test installs an app from npm.
jest.setTimeout(300_000);

const root = join(import.meta.dirname, '../..');
const sources = join(import.meta.dirname, 'fresh-apps');
const tarball = 'dundun-messaging-0.1.0.tgz';

/** Published limit of the whole package, in bytes. */
const MOST_BYTES = 2_000_000;

const run = (command: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(command, [...args], { cwd, maxBuffer: 2 ** 26 }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`, { cause: error });
  });
const node = (args: readonly string[], cwd: string) => run(process.execPath, args, cwd);

/** Each as `nest new` of its version makes it, apart from formatting and lint. */
const APPS = [
  { nest: 12, module: 'ESM', runner: 'vitest', http: 'fastify' },
  { nest: 12, module: 'ESM', runner: 'jest', http: 'express' },
  { nest: 11, module: 'CommonJS', runner: 'jest', http: 'express' },
] as const;

type App = (typeof APPS)[number];

const NEST = {
  11: {
    common: '11.2.10',
    core: '11.2.10',
    testing: '11.1.6',
    'platform-express': '11.2.10',
  },
  12: {
    common: '12.5.1',
    core: '12.5.1',
    testing: '12.1.1',
    'platform-express': '12.5.1',
    'platform-fastify': '12.5.0',
  },
} as const;

const RUNNERS = {
  jest: { jest: '30.5.2', '@types/jest': '30.0.0', 'ts-jest': '29.4.15' },
  vitest: { vitest: '4.1.2' },
} as const;

describe('the package in fresh apps', () => {
  let data: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'dundun-fresh-'));
    const library = join(root, 'libs/messaging');
    const copy = join(data, 'messaging');
    const compiled = join(data, 'compiled');
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const info = join(data, 'info');
    await node(
      [tsc, '-p', library, '--noCheck', '--outDir', compiled, '--tsBuildInfoFile', info],
      root,
    );
    await node([join(library, 'bundle.js'), compiled, join(copy, 'dist/package')], root);
    for (const file of ['package.json', 'README.md', 'LICENSE'])
      await cp(join(library, file), join(copy, file));
    await run('npm', ['pack', '--silent', '--pack-destination', data], copy);
  });

  afterAll(() => rm(data, { recursive: true, force: true }));

  it(`the package is at most ${MOST_BYTES / 1e6} MB unpacked`, async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], join(data, 'messaging'));
    const [packed] = JSON.parse(stdout) as [{ unpackedSize: number }];
    expect(packed.unpackedSize).toBeLessThanOrEqual(MOST_BYTES);
  });

  it.each(APPS)(
    'an app of Nest $nest in $module with $runner and $http compiles, delivers and tests itself',
    async (app) => {
      const folder = join(data, `${app.nest}-${app.runner}`);
      await makeApp(folder, app);
      // The apps keep their messages in memory: nothing compiles the native package of SQLite.
      const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
      await run('npm', ['install', ...options], folder);
      await run('npm', [...(await lineOfReadme(app)), ...options], folder);

      await compile(folder, app);
      const { stdout } = await node(['dist/main.js'], folder);
      const { id, delivered } = JSON.parse(stdout) as { id: string; delivered: string[] };
      expect(delivered).toEqual([id]);

      const { stdout: out, stderr } = await node(testsOf(app), folder);
      expect(out + stderr).toMatch(/Tests:? .*\b3 passed/);
    },
  );
});

/** The arguments of the line that the README prints for the app's Nest, with the package as packed. */
async function lineOfReadme({ nest }: App): Promise<string[]> {
  const readme = await readFile(join(root, 'libs/messaging/README.md'), 'utf8');
  const [, line] = new RegExp(`^# Nest ${nest}\\nnpm (install .*)$`, 'm').exec(readme) ?? [];
  if (line === undefined) throw new Error(`README has no line for Nest ${nest}`);
  return line.replace('@dundun/messaging', `file:../${tarball}`).split(' ');
}

/** Compiles the app, and checks the types of the package too, as each kind of app resolves them. */
async function compile(folder: string, { module }: App): Promise<void> {
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  const older = ['--noEmit', '--module', 'commonjs', '--moduleResolution', 'node10'];
  for (const settings of [[], ...(module === 'ESM' ? [] : [older])]) {
    const checked = ['--incremental', 'false', '--skipLibCheck', 'false', ...settings];
    const result = await node([tsc, ...checked], folder).catch(String);
    // Errors in the types of other packages are theirs; tsc writes the app in spite of them.
    const ours = String(result)
      .split('\n')
      .filter((line) => /@dundun|(^|\s)src\//.test(line));
    expect(ours).toEqual([]);
  }
}

function testsOf({ module, runner }: App): string[] {
  if (runner === 'vitest') return ['node_modules/vitest/vitest.mjs', 'run', '--no-color'];
  const jest = 'node_modules/jest/bin/jest.js';
  return module === 'ESM' ? ['--experimental-vm-modules', jest] : [jest];
}

async function makeApp(folder: string, app: App): Promise<void> {
  const src = join(folder, 'src');
  await mkdir(src, { recursive: true });
  const files = {
    'app.module.ts': 'app.module.ts',
    'main.ts': 'main.ts',
    'orders.module.ts': 'orders.module.ts',
    'orders.test.ts': 'orders.spec.ts',
    [app.http === 'express' ? 'start.ts' : `start.${app.http}.ts`]: 'start.ts',
  };
  for (const [from, to] of Object.entries(files)) {
    const text = await readFile(join(sources, from), 'utf8');
    // CommonJS sources name no extension, and default jest finds none by `.js`.
    const source = app.module === 'ESM' ? text : text.replaceAll(/(from '\..*)\.js'/g, "$1'");
    await writeFile(join(src, to), source);
  }
  await writeJson(folder, 'package.json', manifestOf(app));
  await writeJson(folder, 'tsconfig.json', settingsOf(app));
  if (app.runner === 'vitest')
    await writeFile(
      join(folder, 'vitest.config.ts'),
      `import { defineConfig } from 'vitest/config';
       export default defineConfig({
         test: { globals: true, root: './', include: ['src/**/*.spec.ts'], setupFiles: ['@dundun/messaging/testing/vitest'] },
       });`,
    );
}

function writeJson(folder: string, name: string, value: unknown): Promise<void> {
  return writeFile(join(folder, name), JSON.stringify(value, null, 2));
}

function manifestOf({ nest, module, runner, http }: App) {
  const { testing, ...needed } = NEST[nest];
  const others = (name: string) => !name.startsWith('platform-') || name === `platform-${http}`;
  const packages = Object.entries(needed).filter(([name]) => others(name));
  return {
    name: `nest${nest}-${runner}`,
    private: true,
    ...(module === 'ESM' && { type: 'module' }),
    dependencies: {
      ...Object.fromEntries(packages.map(([name, version]) => [`@nestjs/${name}`, version])),
      'reflect-metadata': '0.2.2',
      rxjs: '7.8.2',
    },
    devDependencies: {
      '@nestjs/testing': testing,
      '@types/node': '20.19.43',
      typescript: nest === 11 ? '5.9.3' : '6.0.3',
      ...RUNNERS[runner],
    },
    ...(runner === 'jest' && { jest: jestOf(module) }),
  };
}

/** That of `nest new` and the set-up file. */
function jestOf(module: App['module']) {
  const shared = {
    moduleFileExtensions: ['js', 'json', 'ts'],
    rootDir: 'src',
    testRegex: '.*\\.spec\\.ts$',
    testEnvironment: 'node',
    setupFilesAfterEnv: ['@dundun/messaging/testing/jest'],
  };
  if (module === 'CommonJS') return { ...shared, transform: { '^.+\\.(t|j)s$': 'ts-jest' } };
  return {
    ...shared,
    extensionsToTreatAsEsm: ['.ts'],
    moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
    transform: { '^.+\\.ts$': ['ts-jest', { useESM: true }] },
  };
}

function settingsOf({ runner }: App) {
  const globals = runner === 'jest' ? 'jest' : 'vitest/globals';
  return {
    compilerOptions: {
      module: 'nodenext',
      moduleResolution: 'nodenext',
      esModuleInterop: true,
      isolatedModules: true,
      declaration: true,
      removeComments: true,
      emitDecoratorMetadata: true,
      experimentalDecorators: true,
      target: 'ES2023',
      sourceMap: true,
      outDir: './dist',
      rootDir: './src',
      incremental: true,
      skipLibCheck: true,
      strict: true,
      types: ['node', globals, `@dundun/messaging/testing/${runner}`],
    },
    include: ['src'],
  };
}
