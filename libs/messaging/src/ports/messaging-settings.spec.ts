import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessagingConfigError } from '../message/errors.js';
import { extrasOf, type MessagingExtras } from './messaging-extras.js';
import { type MessagingOptions } from './messaging-options.js';
import { settingsOf } from './messaging-settings.js';

describe('settingsOf', () => {
  it('fills in the defaults, with durations in milliseconds', () => {
    expect(settingsOf({ dispatch: { lease: '10s' }, sms: { maxParts: 3 } })).toMatchObject({
      dispatch: { enabled: true, lease: 10_000, concurrency: 32, retryFor: 86_400_000 },
      store: {
        preparedStatements: true,
        retention: { content: 30 * 86_400_000, messages: 365 * 86_400_000 },
      },
      reports: { pollAfter: 60_000, giveUpAfter: 259_200_000 },
      sms: { deliveryReport: true, maxRecipients: 100_000, maxParts: 3 },
    });
  });

  it('the table of options in the README has a row for each option', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
    const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
    const named = new Set(rows.flatMap((row) => row.split(' | ')[0]!.match(/[a-zA-Z]+/g) ?? []));
    expect(Object.keys(settingsOf({ providers: {} })).filter((name) => !named.has(name))).toEqual(
      [],
    );
  });

  const transport = () => ({}) as never;

  it.each<[string, object, RegExp]>([
    ['an unknown option', { dispach: {} }, /^dispach: .*did you mean dispatch\?$/],
    [
      'an unknown option of a group',
      { dispatch: { concurency: 4 } },
      /^dispatch\.concurency: .*did you mean dispatch\.concurrency\?$/,
    ],
    [
      'an unknown option that is like no other',
      { store: { colour: 'red' } },
      /^store\.colour: .*there are migrate, /,
    ],
    [
      'an option outside its group',
      { concurrency: 4 },
      /^concurrency: .*did you mean dispatch\.concurrency\?$/,
    ],
    [
      'an unknown option of an endpoint',
      { callbacks: { providers: { twilio: { secret: 'x' } } } },
      /^callbacks\.providers\.twilio\.secret: .*did you mean callbacks\.providers\.twilio\.secrets\?$/,
    ],
    [
      'a string for a number',
      { dispatch: { concurrency: '32' } },
      /^dispatch\.concurrency: must be a whole number.* is a string$/,
    ],
    [
      'a string for a flag',
      { dispatch: { enabled: 'false' } },
      /^dispatch\.enabled: must be true or false/,
    ],
    ['a string for a group', { dispatch: 'false' }, /^dispatch: must be an object of options/],
    ['a flag for a group', { dispatch: false }, /^dispatch: must be an object of options/],
    ['null for a number', { sms: { maxParts: null } }, /^sms\.maxParts: .* is null$/],
    ['zero', { dispatch: { concurrency: 0 } }, /^dispatch\.concurrency: .*at least 1, and is 0$/],
    ['no duration', { dispatch: { lease: 'soon' } }, /^dispatch\.lease: "soon" is no duration/],
    [
      'a bare number that is meant as days',
      { store: { retention: { content: 30 } } },
      /^store\.retention\.content: 30 means 30 milliseconds; write '30d'/,
    ],
    [
      'reports given up before the first poll',
      { reports: { pollAfter: '2h', giveUpAfter: '1h' } },
      /^reports\.giveUpAfter: is shorter than reports\.pollAfter/,
    ],
    [
      'an empty rate limit',
      { dispatch: { rateLimit: { max: 0, per: '1s' } } },
      /^dispatch\.rateLimit\.max: /,
    ],
    [
      'a rate limit without a window',
      { providers: { main: { transport, rateLimit: { max: 1 } } } },
      /^providers\.main\.rateLimit\.per: /,
    ],
    [
      'a transport beside providers',
      { transport, providers: { main: transport } },
      /^transport: there are providers too; leave it out/,
    ],
    [
      'an unknown option of a provider',
      { providers: { main: { transport, rate: 1 } } },
      /^providers\.main\.rate: there is no such option/,
    ],
    [
      'a provider without a transport',
      { providers: { main: {} } },
      /^providers\.main\.transport: must be a transport such as simulator\(\)/,
    ],
    [
      'a name of a provider that the store cannot keep',
      { providers: { 'Main one': transport } },
      /^providers\.Main one: the name must be 1 to 32/,
    ],
    [
      'an unknown field of a route',
      { providers: { main: transport }, routes: [{ chanel: 'sms', use: 'main' }] },
      /^routes\[0\]\.chanel: .*did you mean routes\[0\]\.channel\?$/,
    ],
    [
      'a route without a provider',
      { providers: { main: transport }, routes: [{ channel: 'sms' }] },
      /^routes\[0\]\.use: must be the name of a provider/,
    ],
    [
      'routes without providers',
      { transport, routes: [{ use: 'main' }] },
      /^routes: there are no providers; name them in `providers`/,
    ],
    [
      'an empty frequency cap',
      { policy: { frequencyCap: { sms: { max: 0, per: '1h' } } } },
      /^policy\.frequencyCap\.sms\.max: /,
    ],
    [
      'a frequency cap without a window',
      { policy: { frequencyCap: { sms: { max: 1, per: 'soon' } } } },
      /^policy\.frequencyCap\.sms\.per: /,
    ],
  ])('%s is refused by name, with the remedy', (_, options, message) => {
    const read = () => settingsOf(options as MessagingOptions);
    expect(read).toThrow(MessagingConfigError);
    expect(read).toThrow(message);
  });

  it('a wrong value that may be a secret is not shown', () => {
    expect(() => settingsOf({ callbacks: { secrets: 'whsec_x' as never } })).toThrow(
      /^callbacks\.secrets: must be an array, and is a string$/,
    );
  });

  it('a retention of false keeps messages without limit', () => {
    const retention = { content: '90d', messages: false } as const;
    expect(settingsOf({ store: { retention } }).store.retention).toEqual({
      content: 90 * 86_400_000,
      messages: undefined,
      outcomes: 800 * 86_400_000,
    });
  });

  it('messages that a frequency cap counts must be retained as long as its window', () => {
    const policy = { frequencyCap: { sms: { max: 1, per: '7d' } } } as const;
    const kept = (retention: object) => () => settingsOf({ policy, store: { retention } });
    expect(kept({ content: '3d' })).toThrow('store.retention.content');
    expect(kept({ messages: '6d' })).toThrow('store.retention.messages');
    expect(kept({ content: '7d', messages: '30d' })()).toBeDefined();
  });
});

describe('extrasOf', () => {
  const pathOf = (given: MessagingExtras) => extrasOf(given).callbackPath;

  it('has a callback path by default', () => {
    expect(pathOf({})).toBe('messaging/delivery-reports');
    expect(pathOf({ callbackPath: false })).toBe(false);
    expect(pathOf({ callbackPath: 'a' })).toBe('a');
  });

  it('an empty callback path is refused', () => {
    expect(() => pathOf({ callbackPath: '' })).toThrow(/^callbackPath: must be a path/);
  });

  it('a path that a factory returns is refused, since it would not be served', () => {
    expect(() => settingsOf({ callbackPath: 'in' } as MessagingOptions)).toThrow(
      /^callbackPath: .*beside the factory/,
    );
  });
});
