import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
const swc = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));

/** @type {import('jest').Config} */
const project = {
  rootDir: root,
  testEnvironment: '<rootDir>/test/support/suite-environment.js',
  runtime: '<rootDir>/test/support/suite-runtime.js',
  // The streams of Node itself call process.nextTick.
  fakeTimers: { doNotFake: ['nextTick'] },
  extensionsToTreatAsEsm: ['.ts'],
  // suite-runtime.js evaluates CommonJS, and gives it the namespaces of ECMAScript modules.
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false, module: { importInterop: 'none' } }],
  },
  moduleNameMapper: {
    '^@dundun/dashboard$': '<rootDir>/libs/dashboard/src/index.ts',
    '^@dundun/messaging$': '<rootDir>/libs/messaging/src/index.ts',
    '^@dundun/messaging/(.*)$': [
      '<rootDir>/libs/messaging/src/$1.ts',
      '<rootDir>/libs/messaging/src/providers/$1/index.ts',
      '<rootDir>/libs/messaging/src/engines/$1/index.ts',
    ],
    '^@dundun/smpp$': '<rootDir>/libs/smpp/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/libs/[^/]+/dist'],
  setupFiles: ['<rootDir>/test/setup.ts'],
};

const projects = {
  unit: ['<rootDir>/{libs,src}/**/*.spec.ts'],
  integration: ['<rootDir>/test/integration/**/*.spec.ts'],
  e2e: ['<rootDir>/test/e2e/**/*.spec.ts'],
  attack: ['<rootDir>/test/attack/**/*.spec.ts'],
  examples: ['<rootDir>/{examples,test/examples}/**/*.spec.ts'],
  docs: ['<rootDir>/test/docs/**/*.spec.ts'],
  frame: [
    '<rootDir>/test/frame/**/*.spec.ts',
    // Installs an app, or all.
    ...(process.env.FRESH_APPS ? [] : ['!**/fresh-apps.spec.ts']),
  ],
  peers: [
    '<rootDir>/test/peers/**/*.spec.ts',
    // Needs a document that is not in the repository.
    ...(process.env.TEST_META_OPENAPI ? [] : ['!**/meta-openapi/*.spec.ts']),
    // Needs a corpus of mails that is not in the repository.
    ...(process.env.TEST_BOUNCES ? [] : ['!**/real-bounces/*.spec.ts']),
  ],
  chaos: [
    '<rootDir>/test/chaos/**/*.spec.ts',
    // Half an hour: only `npm run test:chaos` runs them.
    ...(process.env.CHAOS === 'full' ? [] : ['!**/*.full.spec.ts']),
  ],
};

const { CHAOS, ATTACK, FUZZ_REQUESTS, FUZZ_PDUS } = process.env;
const isFull = CHAOS === 'full' || ATTACK === 'full' || Boolean(FUZZ_REQUESTS ?? FUZZ_PDUS);

/** @type {import('jest').Config} */
export default {
  // Suites wait for leases, processes and servers: five keep two processors busy.
  maxWorkers: 5,
  // Ends a test that hangs, also on a machine that is slow or busy. What a test waits for has limits of
  // its own, which leave stalls of the machine out (test/support/try-limit.ts). A suite that needs longer
  // sets its own limit.
  testTimeout: isFull ? 1_200_000 : 60_000,
  // A spec file that boots a Nest module leaks about 30 MB in its worker. A new worker loads its first
  // modules at half the speed.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/support/spreading-sequencer.js',
  globalSetup: '<rootDir>/test/support/probe-servers.js',
  reporters: ['default', '<rootDir>/test/support/skipped-reporter.js'],
  projects: Object.entries(projects).map(([displayName, testMatch]) => ({
    ...project,
    displayName,
    testMatch,
  })),
};
