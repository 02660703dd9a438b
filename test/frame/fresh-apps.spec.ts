import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackages } from '../support/builds.js';
import {
  BUILDERS,
  buildOf,
  type FreshApp,
  isESM,
  MANAGERS,
  NESTS,
  packagesOfReadme,
  run,
  RUNNERS,
  SERVERS,
  writeApp,
} from './fresh-app.js';

// Each test installs an app from a registry.
jest.setTimeout(600_000);

const ONE: FreshApp = {
  manager: 'npm',
  nest: 11,
  server: 'express',
  runner: 'jest',
  builder: 'swc',
};
const ALL = MANAGERS.flatMap((manager) =>
  NESTS.flatMap((nest) =>
    SERVERS.flatMap((server) =>
      RUNNERS.flatMap((runner) =>
        BUILDERS.map((builder): FreshApp => ({ manager, nest, server, runner, builder })),
      ),
    ),
  ),
);

const TOOLS = { npm: undefined, pnpm: 'pnpm@12.21.0', yarn: '@yarnpkg/cli-dist@4.18.1' };

describe('the packages in fresh apps, installed by the lines of their READMEs', () => {
  const apps = process.env.FRESH_APPS === 'full' ? ALL : [ONE];
  let data: string;
  let packages: string;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'dundun-fresh-'));
    packages = await buildPackages();
    const tools = [...new Set(apps.map(({ manager }) => TOOLS[manager]))].filter(Boolean);
    const quiet = ['--no-audit', '--no-fund'];
    if (tools.length > 0)
      await run(
        'npm',
        ['install', '--prefix', join(data, 'tools'), ...quiet, ...(tools as string[])],
        data,
      );
    environment = {
      YARN_ENABLE_SCRIPTS: 'false',
      YARN_ENABLE_TELEMETRY: 'false',
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      YARN_NPM_REGISTRY_SERVER: (await run('npm', ['config', 'get', 'registry'], data)).trim(),
    };
  });

  afterAll(() => rm(data, { recursive: true, force: true }));

  it.each(apps)(
    '$manager installs an app of Nest $nest with $server, $runner and $builder, which sends, tests itself and shows the dashboard',
    async (app) => {
      const folder = join(data, Object.values(app).join('-'));
      const program = (name: string) => join(data, 'tools/node_modules/.bin', name);
      /** Runs a program of the app's own packages. */
      const own = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
        const all = { ...environment, ...env };
        if (app.manager === 'yarn') return run(program('yarn'), args, folder, all);
        const [name = '', ...rest] = args;
        if (name === 'node') return run(process.execPath, rest, folder, all);
        return run(join(folder, 'node_modules/.bin', name), rest, folder, all);
      };
      await writeApp(folder, app);
      const given = await packagesOfReadme(app);
      const named = given.map((name) =>
        name.replace(/^@dundun\/(\w+)$/, `$&@file:${packages}/$1.tgz`),
      );
      await install(app, named, folder);

      await compile(own);
      const { command, program: built } = await buildOf(app);
      await own(command);
      const files = await own([
        'node',
        '-p',
        "require('path').join(require.resolve('@dundun/dashboard/package.json'), '../dist/ui')",
      ]);
      const inBundle = app.builder === 'esbuild' ? { DASHBOARD_FILES: files.trim() } : {};
      const [said = ''] = /^\{.*\}$/m.exec(await own(['node', built], inBundle)) ?? [];
      expect(JSON.parse(said)).toEqual({
        isDelivered: true,
        statuses: [204, 500],
        stored: { orders: 1, messages: 2 },
        wrong: [400, ['to[0]']],
        dashboard: {
          page: 200,
          script: [200, 'text/javascript; charset=utf-8'],
          api: [200, expect.stringMatching(/^application\/json/)],
          closed: [403, expect.stringMatching(/^application\/json/)],
        },
      });
      expect(await own(testsOf(app), testEnvironmentOf(app))).toMatch(/Tests:? .*\b5 passed/);
    },
  );

  async function install(app: FreshApp, names: readonly string[], folder: string): Promise<void> {
    const program = (name: string) => join(data, 'tools/node_modules/.bin', name);
    // The apps keep their messages in memory: nothing compiles the native package of SQLite.
    const npm = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    switch (app.manager) {
      case 'npm':
        await run('npm', ['install', ...npm], folder);
        await run('npm', ['install', ...names, ...npm], folder);
        break;
      case 'pnpm':
        await run(program('pnpm'), ['install', '--ignore-scripts'], folder);
        await run(program('pnpm'), ['add', '--ignore-scripts', ...names], folder);
        break;
      case 'yarn':
        await run(program('yarn'), ['install'], folder, environment);
        await run(program('yarn'), ['add', ...names], folder, environment);
    }
  }
});

type Own = (args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<string>;

/** Compiles the app, and checks the types of the packages too. */
async function compile(own: Own): Promise<void> {
  const result = await own(['tsc', '--skipLibCheck', 'false']).catch(String);
  // Errors in the types of other packages are theirs; tsc writes the app in spite of them.
  expect(result.split('\n').filter((line) => /@dundun|(^|\s)src\//.test(line))).toEqual([]);
}

function testsOf({ runner }: FreshApp): string[] {
  return runner === 'vitest' ? ['vitest', 'run', '--no-color'] : ['jest'];
}

function testEnvironmentOf(app: FreshApp): NodeJS.ProcessEnv {
  return app.runner === 'jest' && isESM(app) ? { NODE_OPTIONS: '--experimental-vm-modules' } : {};
}
