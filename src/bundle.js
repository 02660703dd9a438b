import { rm } from 'node:fs/promises';
import { dirname, join, parse, relative } from 'node:path';
import { isNewerThan, root } from './changes.js';

/**
 * Bundles the gateway, its command line and `ormconfig.ts` from their sources into `dist`. Node then
 * reads fewer files, so a process starts in two thirds of the CPU time.
 *
 *   node src/bundle.js                 always
 *   node src/bundle.js --if-changed    unless the output is newer than every source and package
 *   node src/bundle.js --if-changed DIRECTORY ENTRY...    other entries, into another directory
 */

/**
 * Loaded from node_modules: optional and native packages, those that other packages look up in
 * node_modules, and those that OpenTelemetry's instrumentations recognise by their files.
 */
const EXTERNAL =
  /^(?:@fastify\/(?:multipart|view)|@nestjs\/(?:microservices|websockets)|@opentelemetry\/api|bullmq|class-transformer|class-validator|ioredis|libsql|mysql2|node-sqlite3-wasm|pg|reflect-metadata|typeorm)(?:\/|$)/;

/** At the start of each bundled file: the URL and the path of a file by its path from there. */
const FROM_HERE = `const urlFromHere = (path) => new URL(path, import.meta.url);
const pathFromHere = (path) => process.getBuiltinModule('node:url').fileURLToPath(urlFromHere(path));`;

/**
 * Gives a module that asks for its own path the one it has outside of the bundle.
 * @param {string} directory of the bundled files
 * @returns {import('rolldown').Plugin}
 */
function ownPaths(directory) {
  return {
    name: 'own-paths',
    transform(code, id) {
      if (!/\b__(?:dirname|filename)\b|\bimport\.meta\.(?:url|dirname)\b/.test(code)) return null;
      const place = (/** @type {string} */ of) => JSON.stringify(relative(directory, of));
      const path = (/** @type {string} */ of) => `pathFromHere(${place(of)})`;
      if (/\b__(?:dirname|filename)\b/.test(code))
        return `var __filename = ${path(id)}, __dirname = ${path(dirname(id))}; ${code}`;
      return code
        .replaceAll(/\bimport\.meta\.url\b/g, `urlFromHere(${place(id)}).href`)
        .replaceAll(/\bimport\.meta\.dirname\b/g, path(dirname(id)));
    },
  };
}

/**
 * Writes characters above U+007F as escapes: V8 keeps a source with one above U+00FF in two bytes a
 * character. Such characters are in strings, templates and regular expressions alone.
 * @returns {import('rolldown').Plugin}
 */
function ascii() {
  return {
    name: 'ascii',
    // After `renderChunk`, whose result is printed anew.
    generateBundle(_options, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\0-\x7f]/g, escaped);
    },
  };
}

const escaped = (/** @type {string} */ unit) =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * @param {Readonly<Record<string, string>>} input entries by the path of their output
 * @param {string} to
 * @param {string} files the folder in it for code that entries share
 */
async function bundle(input, to, files) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input,
    external: EXTERNAL,
    platform: 'node',
    tsconfig: join(root, 'test/tsconfig.json'),
    plugins: [ownPaths(join(to, files)), ascii()],
  });
  await rm(join(to, files), { recursive: true, force: true });
  await build.write({
    dir: to,
    format: 'esm',
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    banner: FROM_HERE,
    entryFileNames: '[name].js',
    chunkFileNames: join(files, '[name]-[hash].js'),
  });
  await build.close();
}

/** @param {string} output an entry of the bundle */
const isNewerThanSources = (output) =>
  isNewerThan(
    output,
    ['src', 'libs', 'test/chaos/processes'],
    /\.[jt]s$/,
    /(?:^|\/)(?:dist|node_modules|ui)\//,
  );

const ifChanged = process.argv.includes('--if-changed');
const [directory, ...entries] = process.argv.slice(2).filter((one) => one !== '--if-changed');
const to = directory ?? join(root, 'dist');
const input =
  directory === undefined
    ? {
        'src/main': join(root, 'src/main.ts'),
        'src/cli': join(root, 'src/cli/main.ts'),
        ormconfig: join(root, 'ormconfig.ts'),
      }
    : Object.fromEntries(entries.map((entry) => [parse(entry).name, entry]));
const [first] = Object.keys(input);
if (!ifChanged || !(await isNewerThanSources(join(to, `${first}.js`))))
  await bundle(input, to, directory === undefined ? 'src' : '.');
