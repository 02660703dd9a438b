import { createRequire } from 'node:module';
import { dirname, isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import Runtime from 'jest-runtime';

const require = createRequire(import.meta.url);

/** Compiled modules of the project by path, and the paths of their source maps: kept by the worker. */
const sources = new Map();
const sourceMaps = new Map();

/** Namespaces that Node imported, or the errors of their import: kept by the worker. */
const packages = new Map();

const COMMON_JS = {
  isInternalModule: false,
  supportsDynamicImport: false,
  supportsExportNamespaceFrom: false,
  supportsStaticESM: false,
  supportsTopLevelAwait: false,
};

/**
 * Jest's runtime with shared packages. Each suite evaluates the modules of the project for itself, as
 * CommonJS in the worker's own realm. Node imports packages, once per worker. Without it, each suite
 * that boots a Nest app takes 2 s of CPU time to load packages into its own realm.
 */
export default class SuiteRuntime extends Runtime {
  #resolver;
  #transformer;
  #coverage;
  #modules = new Map();
  #mocks = new Map();

  constructor(config, environment, resolver, transformer, files, coverage, ...more) {
    super(config, environment, resolver, transformer, files, coverage, ...more);
    this.#resolver = resolver;
    this.#transformer = transformer;
    this.#coverage = coverage;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    await this.#importPackages(path, new Set());
    return this.#require(path);
  }

  setModuleMock(_from, specifier, factory) {
    this.#mocks.set(specifier, factory());
  }

  /** Jest's own test framework keeps the tests of a suite: each suite loads its own. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  /** Jest would replace the method of the worker's process. */
  installGetBuiltinModule() {}

  /** Imports all that a module and its dependencies need of Node, so that they can be required. */
  async #importPackages(path, seen) {
    if (seen.has(path)) return;
    seen.add(path);
    for (const specifier of this.#source(path).imports) {
      const target = this.#resolve(path, specifier);
      if (isSource(target)) await this.#importPackages(target, seen);
      else if (!packages.has(target)) packages.set(target, await imported(target));
    }
  }

  /** The path of a module of the project, or the name or path of a package that Node imports. */
  #resolve(from, specifier) {
    const path = this.#resolver.resolveStubModuleName(from, specifier);
    if (path) return path;
    return specifier.startsWith('.') ? this.#resolver.resolveModule(from, specifier) : specifier;
  }

  #source(path) {
    let source = sources.get(path);
    if (!source) sources.set(path, (source = this.#compile(path)));
    return source;
  }

  #compile(path) {
    const options = { ...this.#coverage, ...COMMON_JS };
    const { code, sourceMapPath } = this.#transformer.transform(path, options);
    if (sourceMapPath) sourceMaps.set(path, sourceMapPath);
    // On the first line of the module, so that the lines of errors stay right.
    const script = new Script(`(function (exports, require, __filename, __dirname) {${code}\n})`, {
      filename: path,
    });
    return {
      imports: new Set([...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name)),
      evaluate: script.runInThisContext(),
    };
  }

  #require(path) {
    let exports = this.#modules.get(path);
    if (exports) return exports;
    this.#modules.set(path, (exports = {}));
    const require = (specifier) => this.#imported(path, specifier);
    this.#source(path).evaluate(exports, require, path, dirname(path));
    return exports;
  }

  #imported(from, specifier) {
    if (specifier === '@jest/globals') return this.requireModuleOrMock(from, specifier);
    const mock = this.#mocks.get(specifier);
    if (mock) return mock;
    const target = this.#resolve(from, specifier);
    if (isSource(target)) return this.#require(target);
    const { namespace, error } = packages.get(target);
    if (error) throw error;
    return namespace;
  }
}

function isSource(target) {
  return target.endsWith('.ts');
}

async function imported(target) {
  try {
    return { namespace: await import(isAbsolute(target) ? pathToFileURL(target).href : target) };
  } catch (error) {
    return { error };
  }
}
