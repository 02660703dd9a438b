import { expect, it } from '@jest/globals';
import type { RecentSends } from '../store/reads/recent-sends.js';
import { smsChannel } from '../channels/sms/sms.channel.js';
import { whatsAppChannel } from '../channels/whatsapp/whatsapp.channel.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import type { MessagingPolicy } from '../ports/messaging-policy.js';
import type { PolicyOptions } from '../ports/policy-options.js';
import { policiesInOrder } from './policy-registry.js';

const channels = new ChannelRegistry([smsChannel({}), whatsAppChannel({})]);
const own: MessagingPolicy = { name: 'own', decide: async () => new Map() };
const names = (options: PolicyOptions, others: MessagingPolicy[]) =>
  policiesInOrder(options, others, channels, {} as RecentSends).map(({ name }) => name);

it('built-in policies run first and own policies last', () => {
  expect(names({}, [own])).toEqual(['opt-in-required', 'opted-out', 'service-window', 'own']);
  expect(names({ quietHours: { from: '21:00', to: '08:00' } }, [])).toContain('quiet-hours');
  expect(names({ frequencyCap: { sms: { max: 1, per: '1h' } } }, [])).toContain('frequency-cap');
});

it('policies are removed and reordered by name', () => {
  expect(names({ remove: ['opted-out'], order: ['own'] }, [own])).toEqual([
    'own',
    'opt-in-required',
    'service-window',
  ]);
});

it('an unknown or repeated policy name fails the boot', () => {
  expect(() => names({ remove: ['opt-out'] }, [])).toThrow(
    'policy.remove: there is no policy opt-out',
  );
  expect(() => names({ order: ['x'] }, [])).toThrow('opt-in-required, opted-out, service-window');
  expect(() => names({}, [own, own])).toThrow('two policies named own');
  expect(() => names({ serviceWindow: { margin: '24h' } }, [])).toThrow('shorter than 24 hours');
});
