import { jest } from '@jest/globals';

const { CHAOS, ATTACK, FUZZ_REQUESTS } = process.env;

/** Full forms have the limit of jest.config.js, 20 minutes. */
const IS_FULL = CHAOS === 'full' || ATTACK === 'full' || FUZZ_REQUESTS !== undefined;

/** The limit of each test and hook of a suite that needs more than a minute in its short form. */
export function limitTests(seconds: number): void {
  if (!IS_FULL) jest.setTimeout(seconds * 1_000);
}
