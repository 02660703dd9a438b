import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SourceTextModule, SyntheticModule } from 'node:vm';
import Runtime from 'jest-runtime';

const require = createRequire(import.meta.url);

/** Code by path, and the paths of its source maps: compiled once per worker. */
const compiled = new Map();
const sourceMaps = new Map();

/** Packages by specifier: loaded once per worker. */
const packages = new Map();

const FORMAT = {
  isInternalModule: false,
  supportsDynamicImport: true,
  supportsExportNamespaceFrom: true,
  supportsStaticESM: true,
  supportsTopLevelAwait: true,
};

/**
 * Jest's runtime with packages shared: each suite evaluates the modules of the project anew, and Node
 * itself loads packages, once per worker. A suite that boots a Nest app loads its modules in 0.3 s of
 * CPU time instead of 2 s, and runs in a third of the CPU time, since V8 has optimised the packages.
 */
export default class SuiteRuntime extends Runtime {
  #resolver;
  #transformer;
  #coverage;
  #modules = new Map();
  #mocks = new Map();
  #linked = Promise.resolve();

  constructor(config, environment, resolver, transformer, files, coverage, ...more) {
    super(config, environment, resolver, transformer, files, coverage, ...more);
    this.#resolver = resolver;
    this.#transformer = transformer;
    this.#coverage = coverage;
  }

  async unstable_importModule(path) {
    await this.#evaluate(this.#source(path));
  }

  setModuleMock(_from, specifier, factory) {
    this.#mocks.set(specifier, factory);
  }

  /** Jest's own test framework, anew for each suite since it keeps the suite's tests. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  /** Jest would replace the method of the real process. */
  installGetBuiltinModule() {}

  /** Modules of one graph cannot be linked by two imports at the same time. */
  async #evaluate(loading) {
    const module = await loading;
    this.#linked = this.#linked.then(async () => {
      if (module.status === 'unlinked')
        await module.link((specifier, { identifier }) => this.#module(specifier, identifier));
    });
    await this.#linked;
    await module.evaluate();
    return module;
  }

  #module(specifier, from) {
    if (specifier === '@jest/globals')
      return synthetic(specifier, this.requireModuleOrMock(from, specifier));
    const mock = this.#mocks.get(specifier);
    if (mock) return once(this.#modules, specifier, async () => synthetic(specifier, await mock()));
    const path = this.#resolver.resolveStubModuleName(from, specifier);
    if (path) return this.#source(path);
    if (specifier.startsWith('.'))
      return this.#source(this.#resolver.resolveModule(from, specifier));
    return once(packages, specifier, async () => synthetic(specifier, await import(specifier)));
  }

  #source(path) {
    return once(this.#modules, path, async () => {
      const code = await once(compiled, path, () => this.#compile(path));
      return new SourceTextModule(code, {
        identifier: path,
        initializeImportMeta: (meta) => {
          meta.url = pathToFileURL(path).href;
          meta.filename = path;
          meta.dirname = dirname(path);
        },
        importModuleDynamically: (specifier) => this.#evaluate(this.#module(specifier, path)),
      });
    });
  }

  async #compile(path) {
    const options = { ...this.#coverage, ...FORMAT };
    const { code, sourceMapPath } = await this.#transformer.transformAsync(path, options);
    if (sourceMapPath) sourceMaps.set(path, sourceMapPath);
    return code;
  }
}

function once(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

function synthetic(identifier, exports) {
  const names = Object.keys(exports);
  return new SyntheticModule(
    names,
    function setExports() {
      for (const name of names) this.setExport(name, exports[name]);
    },
    { identifier },
  );
}
