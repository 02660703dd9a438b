import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import packageFile from './package.json' with { type: 'json' };

/**
 * Makes the published form of the library from the output of `tsc`:
 *
 *   core.cjs           loads code once in a process, whether by import or require
 *   code/              the code of each entry, and of what entries share
 *   <entry>.js         what `import` loads: it passes Nest, which may be ESM only, on to the core
 *   <entry>.cjs        what `require` loads
 *   matchers.cjs       the matchers of the testing kit, for the set-up files in set-up/
 *   <entry>.d.cts      types; <entry>.d.ts has them for importing files
 *
 *   node bundle.js [FROM] [TO]
 */

/** @typedef {import('rolldown').OutputChunk} OutputChunk */

/** The entries of package.json that have both forms, by the name of their output. */
const NAMES = Object.entries(packageFile.exports)
  .filter(([, target]) => Object(target).import)
  .map(([entry]) => (entry === '.' ? 'index' : entry.slice('./'.length)));

/** The path of an entry in the output of `tsc`. */
const PLACES = [
  (/** @type {string} */ name) => name,
  (/** @type {string} */ name) => `providers/${name}/index`,
  (/** @type {string} */ name) => `engines/${name}/index`,
];

const isExternal = (/** @type {string} */ id) => !id.startsWith('.') && !id.startsWith('/');

/** An app that does not use it need not install it. */
const isOptional = (/** @type {string} */ id) =>
  Object.keys(packageFile.peerDependenciesMeta).some(
    (name) => id === name || id.startsWith(`${name}/`),
  );

/**
 * Bundlers leave out a missing package only where its error would be caught.
 * @param {string} id
 */
const requiringIfThere = (id) =>
  `() => { try { return require('${id}'); } catch (error) { throw error; } }`;

/** Nest 12 is ESM only, and test runners cannot require() that. */
const isPassed = (/** @type {string} */ id) => id.startsWith('@nestjs/');

/**
 * @param {string} from the output of `tsc`
 * @param {string} to is emptied first
 */
async function bundle(from, to) {
  await rm(to, { recursive: true, force: true });
  await mkdir(join(to, 'code'), { recursive: true });
  const chunks = await codeOf(from);
  await writeFile(join(to, 'core.cjs'), coreOf(chunks));
  for (const { fileName, code } of chunks)
    await writeFile(
      join(to, 'code', `${fileName}.cjs`),
      `'use strict';\nmodule.exports = (exports, require) => {\n${withoutImports(code)}\n};\n`,
    );
  for (const { name, exports, passed } of entriesOf(chunks)) {
    await writeFile(
      join(to, `${name}.cjs`),
      `module.exports = require('./core.cjs')('${name}');\n`,
    );
    if (name === 'matchers') continue;
    await writeFile(join(to, `${name}.js`), importedEntry(name, exports, passed));
    await writeFile(join(to, `${name}.d.ts`), `export * from './${name}.cjs';\n`);
  }
  await writeTypes(from, to);
  await cp(join(import.meta.dirname, 'set-up'), to, { recursive: true });
}

/** @param {string} from */
async function codeOf(from) {
  const build = await rolldown({
    input: { ...inputOf(from, '.js'), matchers: join(resolve(from), 'kit/matchers.js') },
    external: isExternal,
    platform: 'node',
  });
  const { output } = await build.generate({
    format: 'cjs',
    esModule: true,
    keepNames: true,
    comments: false,
    entryFileNames: '[name].entry',
    chunkFileNames: '[name].shared',
  });
  await build.close();
  return output.filter((part) => part.type === 'chunk');
}

/**
 * @param {readonly OutputChunk[]} chunks
 * @returns `passed`: the packages that an importing entry loads for the core
 */
function entriesOf(chunks) {
  return chunks
    .filter(({ isEntry }) => isEntry)
    .map(({ name, exports, fileName }) => {
      const found = new Set([fileName]);
      for (const id of found)
        for (const needed of chunks.find((chunk) => chunk.fileName === id)?.imports ?? [])
          found.add(needed);
      return { name, exports, passed: [...found].filter(isPassed) };
    });
}

/**
 * Loads each chunk once, so that `import` and `require` of one process share classes and tokens. The
 * names of packages and chunks are literals in calls of `require`, as bundlers need them.
 * @param {readonly OutputChunk[]} chunks
 */
function coreOf(chunks) {
  const names = new Set(chunks.map(({ fileName }) => fileName));
  const packages = new Set(
    chunks
      .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
      .filter((id) => !names.has(id)),
  );
  return `'use strict';
const packages = {
${[...packages]
  .toSorted()
  .map((id) => `  '${id}': ${isOptional(id) ? requiringIfThere(id) : `() => require('${id}')`},`)
  .join('\n')}
};
const chunks = {
${chunks.map(({ fileName }) => `  './${fileName}': () => require('./code/${fileName}.cjs'),`).join('\n')}
};
const passed = {};
const loaded = {};

function load(id) {
  if (!Object.hasOwn(chunks, id)) return passed[id] ?? packages[id]?.() ?? require(id);
  if (Object.hasOwn(loaded, id)) return loaded[id];
  loaded[id] = {};
  try {
    chunks[id]()(loaded[id], load);
  } catch (error) {
    delete loaded[id];
    throw error;
  }
  return loaded[id];
}

/** \`imported\`: packages that the caller has imported. */
module.exports = (entry, imported = {}) => {
  for (const id in imported) passed[id] ??= imported[id];
  return load(\`./\${entry}.entry\`);
};
`;
}

/**
 * Loads packages that are imported when they are needed, as their importer loads its own.
 * @param {string} code
 */
function withoutImports(code) {
  const requiring = code.replaceAll(
    /\bimport\((["'`][^"'`]+["'`])\)/g,
    'Promise.resolve().then(()=>require($1))',
  );
  if (/\bimport\(/.test(requiring)) throw new Error('A dynamic import is left in the core');
  return requiring;
}

/**
 * @param {string} name
 * @param {readonly string[]} exports
 * @param {readonly string[]} passed
 */
function importedEntry(name, exports, passed) {
  const alias = (/** @type {string} */ id) => id.replaceAll(/\W+/g, '_');
  return `${passed.map((id) => `import * as ${alias(id)} from '${id}';`).join('\n')}
import core from './core.cjs';

export const {
${exports.map((id) => `  ${id},`).join('\n')}
} = core('${name}', {
${passed.map((id) => `  '${id}': ${alias(id)},`).join('\n')}
});
`;
}

/**
 * @param {string} from
 * @param {string} to
 */
async function writeTypes(from, to) {
  const build = await rolldown({
    input: inputOf(from, '.d.ts'),
    external: isExternal,
    plugins: [dts({ dtsInput: true, tsconfig: false, sourcemap: false })],
  });
  await build.write({
    dir: to,
    format: 'esm',
    entryFileNames: '[name].cts',
    chunkFileNames: '[name].d.cts',
  });
  await build.close();
}

/**
 * @param {string} from
 * @param {string} extension
 */
function inputOf(from, extension) {
  return Object.fromEntries(
    NAMES.map((name) => {
      const paths = PLACES.map((place) => join(resolve(from), place(name) + extension));
      const path = paths.find((one) => existsSync(one));
      if (!path) throw new Error(`The entry ${name} of package.json has no source`);
      return [name, path];
    }),
  );
}

const dist = join(import.meta.dirname, 'dist');
const [from = dist, to = join(dist, 'package')] = process.argv.slice(2);
await bundle(from, to);
