import { expect, it } from '@jest/globals';
import type { RecentSends } from '../store/reads/recent-sends.js';
import { registryOf } from '../channels/built-in-channels.js';
import type { MessagingPolicy } from '../ports/messaging-policy.js';
import type { PolicyOptions } from '../ports/policy-options.js';
import { settingsOf } from '../ports/messaging-settings.js';
import type { LearntNumbers } from '../contacts/learnt-numbers.js';
import { policiesInOrder } from './policies-in-order.js';

const channels = registryOf();
const own: MessagingPolicy = { name: 'own', decide: async () => new Map() };
const names = (policy: PolicyOptions, others: MessagingPolicy[]) =>
  policiesInOrder(
    settingsOf({ policy }).policy,
    others,
    channels,
    {} as RecentSends,
    {} as LearntNumbers,
  ).map(({ name }) => name);

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

it('a channel of optIn that is not registered fails the boot', () => {
  expect(() => names({ optIn: ['fax'] }, [])).toThrow(
    'policy.optIn: there is no channel fax; there are sms',
  );
});
