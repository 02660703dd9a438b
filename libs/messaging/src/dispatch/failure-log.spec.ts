import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { FailureLog } from './failure-log.js';

let warn: jest.SpiedFunction<Logger['warn']>;
let error: jest.SpiedFunction<Logger['error']>;
beforeEach(() => {
  warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
});
afterEach(() => {
  jest.restoreAllMocks();
});

const FAILURE = { code: 'unreachable', message: 'no answer', uncertain: true };
const of = (batch: string) => ({ batch, submission: { id: `${batch}-s0` } }) as never;
const lines = () => warn.mock.calls.map(([line]) => String(line));

it('the first, the tenth and the hundredth failure in a row are logged', () => {
  const log = new FailureLog('main');
  for (let n = 0; n < 120; n++) log.failed(of(`b${n % 7}`), FAILURE, undefined);
  expect(lines()).toEqual(
    [
      [1, 0],
      [10, 2],
      [100, 1],
    ].map(
      ([n, batch]) =>
        `main: submission b${batch}-s0 failed, failure ${n} in a row: unreachable: no answer; the provider may have accepted it`,
    ),
  );
});

it('a batch that fails while others are accepted is logged at its own first and tenth failure', () => {
  const log = new FailureLog('main');
  for (let n = 0; n < 20; n++) {
    log.failed(of('bad'), { ...FAILURE, uncertain: false }, undefined);
    log.passed('good');
  }
  expect(lines()).toEqual(
    [1, 10].map(
      (n) => `main: submission bad-s0 failed, failure ${n} in a row: unreachable: no answer`,
    ),
  );
});

it('after a success the count begins again, and a foreign error has its stack', () => {
  const log = new FailureLog('main');
  const cause = new TypeError('x is undefined');
  for (let n = 0; n < 2; n++) {
    log.failed(of('a'), FAILURE, cause);
    log.failed(of('a'), FAILURE, cause);
    log.passed('a');
  }
  expect(error.mock.calls).toHaveLength(2);
  expect(error.mock.calls[0]).toEqual([expect.stringContaining('failure 1'), cause.stack]);
});
