import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SOURCES = join(import.meta.dirname, 'fresh-apps');
const README = join(import.meta.dirname, '../../libs/messaging/README.md');
const DASHBOARD_README = join(import.meta.dirname, '../../libs/dashboard/README.md');

export const MANAGERS = ['npm', 'pnpm', 'yarn'] as const;
export const NESTS = [11, 12] as const;
export const SERVERS = ['express', 'fastify'] as const;
export const RUNNERS = ['jest', 'vitest'] as const;
export const BUILDERS = ['swc', 'esbuild'] as const;

/** An app as `nest new` of its version makes it, apart from formatting and lint: Nest 11 in CommonJS, 12 in ESM. */
export interface FreshApp {
  readonly manager: (typeof MANAGERS)[number];
  readonly nest: (typeof NESTS)[number];
  readonly server: (typeof SERVERS)[number];
  readonly runner: (typeof RUNNERS)[number];
  /** What makes the program that runs; the types are those of `tsc` in either case. */
  readonly builder: (typeof BUILDERS)[number];
}

const NEST = {
  11: {
    common: '11.2.10',
    core: '11.2.10',
    testing: '11.1.6',
    express: '11.2.10',
    fastify: '11.2.8',
    typescript: '5.9.3',
  },
  12: {
    common: '12.5.1',
    core: '12.5.1',
    testing: '12.1.1',
    express: '12.5.1',
    fastify: '12.5.0',
    typescript: '6.0.3',
  },
} as const;

const SWC = { '@swc/core': '1.16.18', '@swc/cli': '0.8.1' };
const TOOLS = {
  jest: {
    swc: { jest: '30.5.2', '@types/jest': '30.0.0', '@swc/jest': '0.2.39' },
    esbuild: {
      jest: '30.5.2',
      '@types/jest': '30.0.0',
      'ts-jest': '29.4.15',
      'jest-util': '30.5.1',
    },
  },
  vitest: {
    swc: { vitest: '4.1.2', 'unplugin-swc': '2.0.0' },
    esbuild: { vitest: '4.1.2' },
  },
} as const;

/**
 * Optional packages of Nest and TypeORM, which an app names to its bundler as Nest's docs say. None is of
 * the library: it is bundled with what the app uses of it.
 */
const EXTERNAL = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer',
  'class-validator',
];

export function isESM({ nest }: FreshApp): boolean {
  return nest === 12;
}

/** Runs a program in the folder. @throws Error with its output */
export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd, maxBuffer: 2 ** 26, env: { ...process.env, ...env } };
  try {
    const { stdout, stderr } = await promisify(execFile)(command, [...args], options);
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}

/** The packages of the line that a README prints, for the app's Nest where it has several. */
export async function packagesOfReadme({ nest }: FreshApp): Promise<string[]> {
  const readmes = await Promise.all(
    [README, DASHBOARD_README].map((path) => readFile(path, 'utf8')),
  );
  return readmes.flatMap((readme) => {
    const [, line] =
      new RegExp(`^(?:# Nest ${nest}|\`\`\`sh)\\nnpm install (.*)$`, 'm').exec(readme) ?? [];
    if (line === undefined) throw new Error(`A README has no line for Nest ${nest}`);
    return line.split(' ');
  });
}

/** The options of esbuild that the README prints for a bundle in ECMAScript. */
async function bundleOptionsOfReadme(): Promise<string[]> {
  const [, banner] =
    /^--keep-names --banner:js="(.*)"$/m.exec(await readFile(README, 'utf8')) ?? [];
  if (banner === undefined) throw new Error('The README has no options for esbuild');
  return ['--keep-names', `--banner:js=${banner}`];
}

/** Writes the app into the folder, without installed packages. */
export async function writeApp(folder: string, app: FreshApp): Promise<void> {
  const src = join(folder, 'src');
  await mkdir(src, { recursive: true });
  const files = {
    'app.module.ts': 'app.module.ts',
    'main.ts': 'main.ts',
    'order.entity.ts': 'order.entity.ts',
    'orders.module.ts': 'orders.module.ts',
    'orders.test.ts': 'orders.spec.ts',
    [app.server === 'express' ? 'start.ts' : `start.${app.server}.ts`]: 'start.ts',
  };
  for (const [from, to] of Object.entries(files)) {
    const text = await readFile(join(SOURCES, from), 'utf8');
    // CommonJS sources name no extension, and default jest finds none by `.js`.
    const source = isESM(app) ? text : text.replaceAll(/(from '\..*)\.js'/g, "$1'");
    await writeFile(join(src, to), source);
  }
  await writeSettings(folder, app);
}

/** Writes the settings of the app into the folder, without its sources. */
export async function writeSettings(folder: string, app: FreshApp): Promise<void> {
  const writeJson = (name: string, value: unknown) =>
    writeFile(join(folder, name), JSON.stringify(value, null, 2));
  await writeJson('package.json', manifestOf(app));
  await writeJson('tsconfig.json', settingsOf(app));
  await writeJson('.swcrc', swcOf(app));
  if (app.runner === 'vitest') await writeFile(join(folder, 'vitest.config.mts'), vitestOf(app));
}

function manifestOf(app: FreshApp) {
  const { nest, server, runner, builder } = app;
  const { common, core, testing, [server]: platform, typescript } = NEST[nest];
  return {
    name: 'fresh-app',
    private: true,
    ...(isESM(app) && { type: 'module' }),
    dependencies: {
      '@nestjs/common': common,
      '@nestjs/core': core,
      [`@nestjs/platform-${server}`]: platform,
      'reflect-metadata': '0.2.2',
      rxjs: '7.8.2',
      // A bundle does not have it, and resolves it from the app.
      ...(builder === 'esbuild' && { 'node-sqlite3-wasm': '0.8.60' }),
    },
    devDependencies: {
      '@nestjs/testing': testing,
      '@types/node': '20.19.43',
      typescript,
      ...(builder === 'swc' ? SWC : { esbuild: '0.28.2' }),
      ...(builder === 'swc' && runner === 'vitest' && { '@swc/core': SWC['@swc/core'] }),
      ...TOOLS[runner][builder],
    },
    ...(runner === 'jest' ? { jest: jestOf(app) } : { resolutions: { vite: '8.3.8' } }),
  };
}

/** That of `nest new` and the set-up file. */
function jestOf(app: FreshApp) {
  const transform =
    app.builder === 'swc'
      ? ['@swc/jest', swcOf(app)]
      : ['ts-jest', ...(isESM(app) ? [{ useESM: true }] : [])];
  return {
    moduleFileExtensions: ['js', 'json', 'ts'],
    rootDir: 'src',
    // Other suites share the machine: the first start of the app took more than Jest's five seconds.
    testTimeout: 60_000,
    testRegex: '.*\\.spec\\.ts$',
    testEnvironment: 'node',
    setupFilesAfterEnv: ['@dundun/messaging/testing/jest'],
    transform: { '^.+\\.ts$': transform },
    ...(isESM(app) && {
      extensionsToTreatAsEsm: ['.ts'],
      moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
    }),
  };
}

function vitestOf({ builder }: FreshApp): string {
  const [imported, plugins] =
    builder === 'swc'
      ? [
          "import swc from 'unplugin-swc';\n",
          "plugins: [swc.vite({ module: { type: 'es6' } })], oxc: false,",
        ]
      : ['', ''];
  return `${imported}import { defineConfig } from 'vitest/config';
export default defineConfig({
  ${plugins}
  test: { globals: true, root: './', include: ['src/**/*.spec.ts'], setupFiles: ['@dundun/messaging/testing/vitest'] },
});
`;
}

/** As Nest's docs have it. */
function swcOf(app: FreshApp) {
  return {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
      keepClassNames: true,
    },
    module: { type: isESM(app) ? 'es6' : 'commonjs' },
  };
}

function settingsOf({ runner }: FreshApp) {
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
      skipLibCheck: true,
      strict: true,
      types: ['node', globals, `@dundun/messaging/testing/${runner}`],
    },
    include: ['src'],
  };
}

/** The command that makes the program of the output of `tsc`, or of the sources. */
export async function buildOf(
  app: FreshApp,
): Promise<{ readonly command: string[]; readonly program: string }> {
  if (app.builder === 'swc')
    return {
      command: ['swc', 'src', '--out-dir', 'built', '--strip-leading-paths'],
      program: 'built/main.js',
    };
  const external = EXTERNAL.filter((name) => name !== `@nestjs/platform-${app.server}`).flatMap(
    (name) => [`--external:${name}`, `--external:${name}/*`],
  );
  const format = isESM(app) ? 'esm' : 'cjs';
  const program = `bundle.${isESM(app) ? 'mjs' : 'cjs'}`;
  const options = ['--bundle', '--platform=node', `--format=${format}`];
  return {
    command: [
      'esbuild',
      'dist/main.js',
      ...options,
      ...external,
      ...(isESM(app) ? await bundleOptionsOfReadme() : ['--keep-names']),
      `--outfile=${program}`,
    ],
    program,
  };
}
