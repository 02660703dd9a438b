import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { print } from './output.js';

const LANES = {
  lanes: [
    { lane: 'acc_1:sms', state: 'paused', reason: 'carrier maintenance until nine in the evening' },
    { lane: 'acc_2:sms', state: 'waiting', reason: null },
  ],
  nextCursor: null,
};

describe('print', () => {
  let written: string;
  beforeEach(() => {
    written = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written += String(chunk);
      return true;
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('a table that fits into the terminal, or goes to a pipe, has a line per row', () => {
    const table = `lane       state    reason
acc_1:sms  paused   carrier maintenance until nine in the evening
acc_2:sms  waiting  -
next_cursor  -
`;
    print(LANES, { columns: 65 });
    expect(written).toBe(table);
    written = '';
    print(LANES, {});
    expect(written).toBe(table);
  });

  it('a table wider than the terminal has a block of lines per row, none of them wider', () => {
    print(LANES, { columns: 30 });
    expect(written).toBe(`lane    acc_1:sms
state   paused
reason  carrier maintenance
        until nine in the
        evening

lane    acc_2:sms
state   waiting
reason  -
next_cursor  -
`);
  });

  it('JSON is one line whatever the width of the terminal', () => {
    print(LANES, { json: true, columns: 10 });
    expect(written.split('\n')).toHaveLength(2);
    expect(JSON.parse(written)).toMatchObject({ next_cursor: null });
  });
});
