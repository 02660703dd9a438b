import { expect, it } from '@jest/globals';
import { registryOf } from '../channels/built-in-channels.js';
import type { ChannelDefinition } from './channel-definition.js';
import { ChannelRegistry } from './channel-registry.js';
import { MessagingConfigError } from './errors.js';
import { STATUS_RANK } from './status.js';

const builtIn = registryOf().all;

const parcel: ChannelDefinition = {
  name: 'parcel',
  addressKinds: ['email'],
  statuses: {
    handed_over: { rank: 44, reported: true },
    lost: { rank: 61, terminal: true, reported: true, failed: true },
    opened: { rank: 99, terminal: true, reported: true },
  },
  accepted: 'handed_over',
  content: { text: ({ text }) => ({ content: { kind: 'text', text: String(text) } }) },
};

it('the built-in channels have the ranks that the store keeps', () => {
  const registry = registryOf();
  for (const [status, rank] of Object.entries(STATUS_RANK)) {
    expect(registry.rankOf(status)).toBe(rank);
    expect(registry.statusOf(rank)).toBe(status);
  }
  expect(registry.acceptedRankOf('sms')).toBe(STATUS_RANK.sent);
  expect(registry.pendingRanks).toEqual([20, 30, 40, 41, 45, 91, 42]);
  expect(registry.countedRanks).toEqual([20, 30, 40, 90, 100, 110, 41, 45, 91, 95, 42]);
  expect(Object.keys(STATUS_RANK).filter((status) => registry.isReported(status))).toEqual([
    'sent',
    'expired',
    'undelivered',
    'failed',
    'rejected',
    'delivered',
    'read',
  ]);
  expect(Object.keys(STATUS_RANK).filter((status) => !registry.isTerminal(status))).toEqual([
    'queued',
    'sending',
    'unknown',
    'sent',
  ]);
});

it('a registered channel adds its statuses by rank', () => {
  const registry = new ChannelRegistry([...builtIn, parcel]);
  expect(registry.names).toEqual(['sms', 'whatsapp', 'email', 'voice', 'vas', 'parcel']);
  expect(registry.acceptedRankOf('parcel')).toBe(44);
  expect(registry.statusOf(61)).toBe('lost');
  expect(registry.pendingRanks).toEqual(expect.arrayContaining([20, 30, 40, 44]));
  expect(registry.countedRanks).toEqual(expect.arrayContaining([44, 99]));
  expect(registry.isReported('opened')).toBe(true);
  expect(registry.isTerminal('handed_over')).toBe(false);
});

it('the registry finds a channel by the type of its callback', () => {
  const registry = registryOf();
  expect(registry.ofEvent('sms.delivery_report')?.name).toBe('sms');
  expect(registry.ofEvent('sms.message_received')?.name).toBe('sms');
  expect(registry.ofEvent('whatsapp.message_received')?.name).toBe('whatsapp');
  expect(registry.ofEvent('parcel.opened')).toBeUndefined();
});

it.each<[string, ChannelDefinition, RegExp]>([
  ['a bad name', { ...parcel, name: 'Parcel post' }, /small letters/],
  ['a name twice', { ...parcel, name: 'sms' }, /registered twice/],
  ['an unknown accepted status', { ...parcel, accepted: 'gone' }, /none of its statuses/],
  [
    'the rank of another status',
    { ...parcel, statuses: { ...parcel.statuses, eaten: { rank: 90 } } },
    /delivered's/,
  ],
  [
    'another rank for a known status',
    { ...parcel, statuses: { ...parcel.statuses, delivered: { rank: 91 } } },
    /another rank/,
  ],
  [
    'a rank below the first that a provider gives',
    { ...parcel, statuses: { ...parcel.statuses, packed: { rank: 35 } } },
    /40 to 119/,
  ],
])('%s is refused', (_, definition, message) => {
  expect(() => new ChannelRegistry([...builtIn, definition])).toThrow(message);
  expect(() => new ChannelRegistry([...builtIn, definition])).toThrow(MessagingConfigError);
});

it('an unknown channel is refused with the names of the registered channels', () => {
  expect(() => registryOf().get('telegram')).toThrow(
    /'telegram' is not registered; known are sms, whatsapp/,
  );
});

it('a status suppresses only with one of the error codes of its rules', () => {
  const rule = (errorCodes?: string[]) => ({ reason: 'r', ...(errorCodes && { errorCodes }) });
  const registry = new ChannelRegistry([
    { ...parcel, suppression: { lost: rule(['1']), failed: rule(['2']) } },
    { ...parcel, name: 'crate', suppression: { lost: rule(['3']), failed: rule() } },
  ]);
  const suppresses = (status: string) =>
    ['1', '2', '3', null].filter((code) => registry.maySuppress(status, code));
  expect(suppresses('lost')).toEqual(['1', '3']);
  expect(suppresses('failed')).toEqual(['1', '2', '3', null]);
  expect(suppresses('sent')).toEqual([]);
  expect(registry.maySuppress('lost')).toBe(true);
});
