import { AsyncLocalStorage } from 'node:async_hooks';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/**
 * Storages in use. Node 20 visits each of them for every promise until it is disabled, and every suite
 * makes storages of its own.
 */
const storages = new Set();
for (const method of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[method];
  AsyncLocalStorage.prototype[method] = function (...args) {
    storages.add(this);
    return original.apply(this, args);
  };
}

/**
 * Runs suites in the realm of their worker's process, with the packages that Node has loaded there
 * (suite-runtime.js). What a suite changes in globals, environment and listeners ends with the suite.
 */
export default class SuiteEnvironment {
  global = globalThis;
  fakeTimers = null;
  #globals = Object.getOwnPropertyDescriptors(globalThis);
  #env = process.env;
  #variables = { ...process.env };
  #exit = Object.getOwnPropertyDescriptor(process, 'exit');
  #exitCode = process.exitCode;
  #listeners = new Set(listeners().map(([, listener]) => listener));

  constructor({ projectConfig: config }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  setup() {}

  teardown() {
    this.fakeTimersModern.dispose();
    for (const storage of storages) storage.disable();
    storages.clear();
    for (const key of Reflect.ownKeys(globalThis)) this.#restore(key);
    process.env = this.#env;
    for (const key of Object.keys(process.env))
      if (!(key in this.#variables)) delete process.env[key];
    Object.assign(process.env, this.#variables);
    Object.defineProperty(process, 'exit', this.#exit);
    process.exitCode = this.#exitCode;
    for (const [event, listener] of listeners())
      if (!this.#listeners.has(listener)) process.off(event, listener);
  }

  #restore(key) {
    const now = Object.getOwnPropertyDescriptor(globalThis, key);
    if (!now.configurable) return;
    const before = this.#globals[key];
    if (before === undefined) delete globalThis[key];
    else if (before.value !== now.value || before.get !== now.get)
      Object.defineProperty(globalThis, key, before);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest asks for a context; the runtime evaluates modules without one. */
  getVmContext() {
    return null;
  }
}

function listeners() {
  return process
    .eventNames()
    .flatMap((event) => process.rawListeners(event).map((listener) => [event, listener]));
}
