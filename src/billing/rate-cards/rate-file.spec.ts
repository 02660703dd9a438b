import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../../http/api-error.js';
import { type ChannelRules, MOST_RATES, readRates } from './rate-file.js';

const CHANNELS = new Map<string, ChannelRules>([
  ['sms', { categories: null, hasPrefixes: true, isTimed: false }],
  ['voice', { categories: null, hasPrefixes: true, isTimed: true }],
  ['whatsapp', { categories: ['utility', 'service'], hasPrefixes: true, isTimed: false }],
  ['email', { categories: null, hasPrefixes: false, isTimed: false }],
]);

function read(...lines: string[]) {
  return readRates(lines.join('\n'), (channel) => CHANNELS.get(channel));
}

/** The wrong lines with their errors. */
async function errorsOf(...lines: string[]): Promise<readonly string[]> {
  try {
    await read(...lines);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_field') throw error;
    return (error.details ?? []).map(({ path, message }) => `${path}: ${message}`);
  }
}

const HEADER = 'channel,prefix,category,price,billing';

describe('the file of a rate card', () => {
  it('each line is a rate, and its columns may stand in any order', async () => {
    const rates = await read(
      '\uFEFFPrice,channel,prefix,billing,category',
      '4.5,sms,234,,',
      '',
      '"4.250001",sms,+234803,,',
      '15,voice,*,6/6,',
      ' 6.7 , whatsapp , 234 , , utility ',
    );
    const none = { category: null, billing: null };
    expect(rates).toEqual([
      [2, { channel: 'sms', prefix: '234', price: '4.5', amount: 4_500_000n, ...none }],
      [4, { channel: 'sms', prefix: '234803', price: '4.250001', amount: 4_250_001n, ...none }],
      [
        5,
        {
          ...none,
          channel: 'voice',
          prefix: '*',
          price: '15',
          amount: 15_000_000n,
          billing: '6/6',
        },
      ],
      [
        6,
        {
          ...none,
          channel: 'whatsapp',
          prefix: '234',
          price: '6.7',
          amount: 6_700_000n,
          category: 'utility',
        },
      ],
    ]);
    expect(await read('channel,prefix,price', 'email,*,0')).toHaveLength(1);
  });

  it('every wrong line is named with its remedy, and others are not', async () => {
    expect(
      await errorsOf(
        HEADER,
        'fax,234,,1,',
        'sms,234,,1,',
        'sms,0234,,1,',
        'sms,234803,,1.0000001,',
        'sms,234805,,-1,',
        'sms,234806,utility,1,',
        'whatsapp,*,marketing,1,',
        'whatsapp,*,,1,',
        'voice,*,,1,',
        'voice,1,,1,0/60',
        'sms,234807,,1,60/60',
        'email,2,,1,',
        'sms,234,,2,',
        'sms,234808,,1000000000,',
        'sms,1',
      ),
    ).toEqual([
      'line 2: channel must be the name of a channel, such as sms',
      'line 4: prefix must be the first digits of numbers with country code, or *',
      expect.stringMatching(/^line 5: price must be a decimal number/),
      expect.stringMatching(/^line 6: price must be a decimal number/),
      'line 7: category must be empty: sms has one price for all categories',
      'line 8: category must be utility, service',
      'line 9: category must be utility, service',
      expect.stringMatching(/^line 10: billing must be the seconds/),
      expect.stringMatching(/^line 11: billing must be the seconds/),
      'line 12: billing must be empty: sms is not billed by time',
      'line 13: prefix must be *: the recipients of email are no numbers',
      'line 14: the line has the channel, prefix and category of line 3 again',
      expect.stringMatching(/^line 15: price must be a decimal number/),
      'line 16: the line has not as many columns as the header',
      expect.stringMatching(/^line 16: price must be a decimal number/),
    ]);
  });

  it('of many wrong lines a hundred are named, and the others are counted', async () => {
    const lines = Array.from({ length: 130 }, (_, n) => `sms,${n + 1},,free,`);
    const errors = await errorsOf(HEADER, ...lines);
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toBe('file: has 30 further wrong lines');
  });

  it.each([
    ['no header', ['sms,234,,1,']],
    ['a column that is unknown', [`${HEADER},currency`, 'sms,234,,1,,NGN']],
    ['a column twice', [`${HEADER},price`, 'sms,234,,1,,2']],
    ['no price', ['channel,prefix', 'sms,234']],
    ['a quote that does not end', [HEADER, 'sms,"234,,1,']],
    ['a header alone', [HEADER]],
    ['nothing', ['']],
  ])('a file with %s is refused', async (_, lines) => {
    expect(await errorsOf(...lines)).toEqual([expect.stringMatching(/^file: /)]);
  });

  it('a file with too many lines is refused', async () => {
    const lines = Array.from({ length: MOST_RATES + 1 }, (_, n) => `sms,${n + 1},,1,`);
    expect(await errorsOf(HEADER, lines.join('\n'))).toEqual([
      expect.stringMatching(/^file: has more than/),
    ]);
  });
});
