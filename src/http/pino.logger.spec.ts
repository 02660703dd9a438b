import { describe, expect, it, jest } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { PinoLogger } from './pino.logger.js';

function logger(level: ConstructorParameters<typeof PinoLogger>[0] = 'trace') {
  const lines: string[] = [];
  const log = new PinoLogger(level, { write: (line) => void lines.push(line) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown> };
}

describe('PinoLogger', () => {
  it('each event is one line of JSON with level, time and context', () => {
    const { log, lines, last } = logger();
    log.log('two\nlines', 'Context');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.trimEnd()).not.toContain('\n');
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      pid: process.pid,
      context: 'Context',
      msg: 'two\nlines',
    });
  });

  it('the fields of a logged object are kept', () => {
    const { log, last } = logger();
    log.warn({ message: 'slow', ms: 12 }, 'Context');
    expect(last()).toMatchObject({ level: 'warn', msg: 'slow', ms: 12, context: 'Context' });
  });

  it('logs the stack that Nest passes, and an error object', () => {
    const { log, last } = logger();
    log.error('failed', 'Error: failed\n at x', 'Context');
    expect(last()).toMatchObject({
      msg: 'failed',
      stack: 'Error: failed\n at x',
      context: 'Context',
    });
    log.error(new TypeError('failed'), 'Context');
    expect(last()).toMatchObject({
      msg: 'failed',
      err: { name: 'TypeError', stack: expect.any(String) },
    });
  });

  it('writes no line below its level', () => {
    const { log, lines } = logger('warn');
    log.log('x');
    log.debug('x');
    log.verbose('x');
    expect(lines).toEqual([]);
    log.fatal('x');
    expect(lines).toHaveLength(1);
  });

  it('of many errors of a kind ten are written in ten seconds, and the rest are counted', () => {
    jest.useFakeTimers();
    try {
      const { log, lines, last } = logger('info');
      const fail = (n: number, message = 'full') => {
        const err = new Error(message);
        log.error({ message: 'unavailable', request: `req-${n}`, err }, 'Http');
        log.error(`Lane a${n}:sms failed: Error: full`, 'Lane');
      };
      for (let n = 0; n < 1_000; n++) fail(n);
      expect(lines).toHaveLength(20);
      fail(0, 'of another kind');
      expect(last()).toMatchObject({ msg: 'unavailable', err: { message: 'of another kind' } });
      jest.advanceTimersByTime(10_000);
      expect(lines).toHaveLength(23);
      expect(last()).toMatchObject({
        level: 'error',
        context: 'Lane',
        left_out: 991,
        msg: 'more lines like: Lane a0:sms failed: Error: full',
      });
      fail(0);
      expect(lines).toHaveLength(25);
      for (let n = 0; n < 100; n++) log.log('not sampled');
      expect(lines).toHaveLength(125);
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes every line where the level is debug', () => {
    const { log, lines } = logger('debug');
    for (let n = 0; n < 100; n++) log.warn('again');
    expect(lines).toHaveLength(100);
  });

  it("logs Nest's start messages at debug", () => {
    const { log, lines } = logger('info');
    log.log('Mapped {/x, GET} route', 'RouterExplorer');
    expect(lines).toEqual([]);
  });

  it('credentials, whole numbers and query parameters are never logged', () => {
    const { log, lines } = logger();
    const failure = new QueryFailedError(
      'INSERT INTO x VALUES (?)',
      ['the text of a message', '2348012345678'],
      new Error('constraint'),
    );
    log.error({ message: 'failed', err: failure, token: 'abc', authorization: 'xyz' });
    log.log({ message: 'nested', headers: { authorization: 'xyz' }, to: ['2348012345678'] });
    log.error(failure);
    log.log('Bearer tok_0123456789abcdef for 2348012345678');
    expect(lines.join('')).not.toMatch(/abc|xyz|text of a message|2348012345678|tok_/);
    expect(lines).toHaveLength(4);
  });
});
