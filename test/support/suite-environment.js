import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

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

  /** None: jest asks for it, and the runtime evaluates modules without. */
  getVmContext() {
    return null;
  }
}

function listeners() {
  return process
    .eventNames()
    .flatMap((event) => process.rawListeners(event).map((listener) => [event, listener]));
}
