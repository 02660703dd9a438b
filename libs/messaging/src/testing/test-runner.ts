/** The two functions that all test runners share: Jest, Vitest, Mocha, `node:test`. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

/** @throws Error where the runner sets no globals; then pass its `describe` and `it` */
export function testRunner(): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (!describe || !it)
    throw new Error('No global describe and it: pass { describe, it } of your test runner');
  return { describe, it };
}
