import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/**
 * Makes the published forms of libraries from the output of `tsc`, each in `dist/package`:
 *
 *   core.cjs           loads code once in a process, whether by import or require
 *   code/              the code of each entry, and of what entries share
 *   <entry>.js         what `import` loads: it passes Nest, which may be ESM only, on to the core
 *   <entry>.cjs        what `require` loads
 *   matchers.cjs       the matchers of the testing kit, for the set-up files in set-up/
 *   <entry>.d.cts      types; <entry>.d.ts has them for importing files
 *
 *   node libs/bundle.js LIBRARY...
 */

/** @typedef {import('rolldown').OutputChunk} OutputChunk */

/** @typedef {{ exports: Record<string, unknown>, peerDependenciesMeta?: object }} Manifest */

/** The path of an entry in the output of `tsc`. */
const PLACES = [
  (/** @type {string} */ name) => name,
  (/** @type {string} */ name) => `providers/${name}/index`,
  (/** @type {string} */ name) => `engines/${name}/index`,
];

const isExternal = (/** @type {string} */ id) => !id.startsWith('.') && !id.startsWith('/');

/**
 * Bundlers leave out a missing package only where its error would be caught.
 * @param {string} id
 */
const requiringIfThere = (id) =>
  `() => { try { return require('${id}'); } catch (error) { throw error; } }`;

/** Nest 12 is ESM only, and test runners cannot require() that; our own core needs it, too. */
const isPassed = (/** @type {string} */ id) => /^@(?:nestjs|dundun\/messaging)(?:\/|$)/.test(id);

/** @param {string} home the folder of the library */
async function bundle(home) {
  const from = join(home, 'dist');
  const to = join(from, 'package');
  await rm(to, { recursive: true, force: true });
  await mkdir(join(to, 'code'), { recursive: true });
  /** @type {Manifest} */
  const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
  const names = entryNamesOf(manifest);
  const setUp = join(home, 'set-up');
  const matchers = existsSync(setUp) ? { matchers: join(from, 'kit/matchers.js') } : {};
  const chunks = await codeOf({ ...inputOf(from, names, '.js'), ...matchers });
  await writeFile(
    join(to, 'core.cjs'),
    coreOf(chunks, Object.keys(manifest.peerDependenciesMeta ?? {})),
  );
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
  await writeTypes(inputOf(from, names, '.d.ts'), to);
  if (existsSync(setUp)) await cp(setUp, to, { recursive: true });
}

/**
 * The entries of package.json that have both forms, by the name of their output.
 * @param {Manifest} manifest
 */
function entryNamesOf({ exports }) {
  return Object.entries(exports)
    .filter(([, target]) => Object(target).import)
    .map(([entry]) => (entry === '.' ? 'index' : entry.slice('./'.length)));
}

/** @param {Readonly<Record<string, string>>} input */
async function codeOf(input) {
  const build = await rolldown({
    input,
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
 * @param {readonly string[]} optional packages that an app need not install where it does not use them
 */
function coreOf(chunks, optional) {
  const isOptional = (/** @type {string} */ id) =>
    optional.some((name) => id === name || id.startsWith(`${name}/`));
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
 * @param {Readonly<Record<string, string>>} input
 * @param {string} to
 */
async function writeTypes(input, to) {
  const build = await rolldown({
    input,
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
 * @param {readonly string[]} names
 * @param {string} extension
 */
function inputOf(from, names, extension) {
  return Object.fromEntries(
    names.map((name) => {
      const paths = PLACES.map((place) => join(resolve(from), place(name) + extension));
      const path = paths.find((one) => existsSync(one));
      if (!path) throw new Error(`The entry ${name} of package.json has no source`);
      return [name, path];
    }),
  );
}

for (const library of process.argv.slice(2)) await bundle(join(import.meta.dirname, library));
