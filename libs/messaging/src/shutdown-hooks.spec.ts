import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { warnWithoutShutdownHooks } from './shutdown-hooks.js';

const LEASE = 30_000;
const environment = process.env['NODE_ENV'];
const hear = () => undefined;

beforeEach(() => {
  process.env['NODE_ENV'] = 'production';
  jest.useFakeTimers();
});
afterEach(() => {
  process.env['NODE_ENV'] = environment;
  process.off('SIGTERM', hear);
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Warnings after the start of the app. */
function warnings(then: () => void = () => undefined): unknown[][] {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const listens = jest.spyOn(process, 'listenerCount');
  // The test runner may listen too.
  listens.mockImplementation((name) => Number(process.listeners(name as 'SIGTERM').includes(hear)));
  const stop = warnWithoutShutdownHooks(new Logger(), LEASE);
  then();
  jest.runAllTimers();
  stop();
  return warn.mock.calls;
}

it('a process without shutdown hooks is warned of its lease and told the remedy', () => {
  const [[line] = []] = warnings();
  expect(line).toContain('30 s');
  expect(line).toContain('app.enableShutdownHooks()');
});

it('a process whose hooks are enabled after the start is not warned', () => {
  expect(warnings(() => process.on('SIGTERM', hear))).toEqual([]);
});

it('a test is not warned', () => {
  process.env['NODE_ENV'] = 'test';
  expect(warnings()).toEqual([]);
});

it('a process that stops at once is not warned', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  warnWithoutShutdownHooks(new Logger(), LEASE)();
  jest.runAllTimers();
  expect(warn).not.toHaveBeenCalled();
});
