const root = import.meta.dirname;

/** @type {import('jest').Config} */
const project = {
  rootDir: root,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.[jt]s$': '@swc/jest' },
  // light-my-request and @fastify/static (under Fastify) require() ESM-only packages, which jest
  // cannot do before Node 24.9: those are compiled.
  transformIgnorePatterns: [
    '/node_modules/(?!(?:.+/node_modules/)?(?:cookie|content-disposition)/)',
  ],
  moduleNameMapper: {
    '^@dundun/dashboard$': '<rootDir>/libs/dashboard/src/index.ts',
    '^@dundun/messaging$': '<rootDir>/libs/messaging/src/index.ts',
    '^@dundun/messaging/bullmq$': '<rootDir>/libs/messaging/src/engines/bullmq/index.ts',
    '^@dundun/messaging/queue$': '<rootDir>/libs/messaging/src/queue.ts',
    '^@dundun/messaging/terminus$': '<rootDir>/libs/messaging/src/terminus.ts',
    '^@dundun/messaging/smtp$': '<rootDir>/libs/messaging/src/providers/smtp/index.ts',
    '^@dundun/messaging/testing$': '<rootDir>/libs/messaging/src/testing/index.ts',
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
  frame: ['<rootDir>/test/frame/**/*.spec.ts'],
  peers: ['<rootDir>/test/peers/**/*.spec.ts'],
  chaos: [
    '<rootDir>/test/chaos/**/*.spec.ts',
    // Half an hour: only `npm run test:chaos` runs them.
    ...(process.env.CHAOS === 'full' ? [] : ['!**/*.full.spec.ts']),
  ],
};

/** @type {import('jest').Config} */
export default {
  // Suites wait for leases, processes and servers: four keep two processors busy.
  maxWorkers: 4,
  // Ends a test that hangs. What a test waits for has limits of its own, which leave stalls of the
  // machine out (test/support/patience.ts). A suite or test that needs longer sets its own limit.
  testTimeout: 600_000,
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
