/** The two functions every test runner has in common: Jest, Vitest, Mocha, `node:test`. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

/** @throws Error where the runner sets no globals; pass its `describe` and `it` then. */
export function testRunner(): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (!describe || !it)
    throw new Error('No global describe and it: pass { describe, it } of your test runner');
  return { describe, it };
}
