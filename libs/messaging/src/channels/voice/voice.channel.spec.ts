import { expect, it } from '@jest/globals';
import type { FieldError } from '../../message/errors.js';
import { settingsOf } from '../../ports/messaging-settings.js';
import { voiceChannel } from './voice.channel.js';

const definition = voiceChannel(settingsOf({ voice: { from: '+234 800 000 0001' } }).voice);

function checked(given: Record<string, unknown>) {
  const errors: FieldError[] = [];
  const { content } = definition.content['call']!({ kind: 'call', ...given }, errors);
  return { content, paths: errors.map(({ path }) => path) };
}

it('a call has exactly one of text, audio address and code, and the defaults of the rest', () => {
  const rest = { kind: 'call', repeat: 1, ringTimeout: 30_000, maxDuration: 600_000 };
  const defaults = { ...rest, machine: 'play', category: 'transactional' };
  for (const said of [
    { text: 'Hello' },
    { audioUrl: 'https://shop.example/a.mp3' },
    { code: '0042' },
  ])
    expect(checked(said)).toEqual({ content: { ...defaults, ...said }, paths: [] });
  expect(checked({}).paths).toEqual(['text']);
  expect(checked({ text: 'Hello', code: '1234' }).paths).toEqual(['code']);
});

it('times are stored in milliseconds, and no redial is stored for zero times', () => {
  const given = {
    text: 'Hello',
    ringTimeout: '15s',
    maxDuration: '10m',
    redial: { times: 3, after: '5m' },
    collect: { maxDigits: 1, timeout: '10s' },
  };
  expect(checked(given).content).toMatchObject({
    ringTimeout: 15_000,
    maxDuration: 600_000,
    redial: { times: 3, after: 300_000 },
    collect: { maxDigits: 1, timeout: 10_000 },
  });
  expect(checked({ text: 'Hello', redial: { times: 0 } }).content).not.toHaveProperty('redial');
});

it.each([
  ['text', ['', ' ', 7, null, 'a\0b', 'a\u0007', '\ud800', 'x'.repeat(3_001)]],
  ['audioUrl', ['', 'shop.example/a.mp3', 'ftp://shop.example/a', 'https://u:p@shop.example/a', 7]],
  ['code', ['123', '123456789', '12a4', 1234, '']],
  ['language', ['', 'e', 'english!', 7]],
  ['voice', ['', '<Say>', 7, 'x'.repeat(65)]],
  ['repeat', [0, 4, 1.5, '1']],
  ['ringTimeout', ['14s', '61s', -1, 'soon', null]],
  ['maxDuration', [0, '601s', {}]],
  ['redial', ['often', [], null]],
  ['redial.times', [{ times: 4 }, { times: -1 }, {}]],
  [
    'redial.after',
    [
      { times: 1, after: 0 },
      { times: 1, after: '25h' },
    ],
  ],
  ['machine', ['wait', true]],
  ['collect', [true, []]],
  ['collect.maxDigits', [{ maxDigits: 0 }, { maxDigits: 33 }, {}]],
  ['collect.timeout', [{ maxDigits: 1, timeout: '61s' }]],
  ['category', ['service', null]],
])('a wrong %s is refused at its path', (path, values: readonly unknown[]) => {
  const [field = ''] = path.split('.');
  const said = field === 'code' || field === 'audioUrl' ? {} : { text: 'Hello' };
  for (const value of values) expect(checked({ ...said, [field]: value }).paths).toEqual([path]);
});

it('a caller id is normalised, and the option stands in for a missing one', () => {
  const senderOf = (from: unknown) => {
    const errors: FieldError[] = [];
    return [definition.sender!(from, errors), errors.map(({ path }) => path)];
  };
  expect(senderOf('+234 800 000 0002')).toEqual(['2348000000002', []]);
  expect(senderOf(undefined)).toEqual(['2348000000001', []]);
  expect(senderOf('ACME')).toEqual(['', ['from']]);
});
