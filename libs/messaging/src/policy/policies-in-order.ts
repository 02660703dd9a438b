import type { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import type { MessagingPolicy } from '../ports/messaging-policy.js';
import type { MessagingSettings } from '../ports/messaging-settings.js';
import type { LearntNumbers } from '../contacts/learnt-numbers.js';
import type { RecentSends } from '../store/reads/recent-sends.js';
import { OptedOutPolicy, OptInRequiredPolicy } from './consent.policies.js';
import { FrequencyCapPolicy } from './frequency-cap.policy.js';
import { QuietHoursPolicy } from './quiet-hours.policy.js';
import { ServiceWindowPolicy } from './service-window.policy.js';

/** Built-in, then the app's, or by `order`. @throws MessagingConfigError naming the option */
export function policiesInOrder(
  options: MessagingSettings['policy'],
  own: readonly MessagingPolicy[],
  channels: ChannelRegistry,
  recent: RecentSends,
  learnt: LearntNumbers,
): MessagingPolicy[] {
  const { remove, order, optIn } = options;
  for (const name of optIn)
    if (!channels.find(name))
      throw new MessagingConfigError(
        `policy.optIn: there is no channel ${name}; there are ${channels.all.map((one) => one.name).join(', ')}`,
      );
  const all = [...builtIn(options, channels, recent, learnt), ...own];
  const names = new Set<string>();
  for (const { name } of all) {
    if (!name) throw new MessagingConfigError('policy: there is a policy without a name; name it');
    if (names.has(name))
      throw new MessagingConfigError(`policy: there are two policies named ${name}; rename one`);
    names.add(name);
  }
  for (const [option, listed] of Object.entries({ remove, order }))
    for (const name of listed)
      if (!names.has(name))
        throw new MessagingConfigError(
          `policy.${option}: there is no policy ${name}; there are ${[...names].join(', ')}`,
        );
  const place = ({ name }: MessagingPolicy) =>
    order.includes(name) ? order.indexOf(name) : order.length;
  return all.filter(({ name }) => !remove.includes(name)).sort((a, b) => place(a) - place(b));
}

function builtIn(
  { optIn, serviceWindow, quietHours, frequencyCap }: MessagingSettings['policy'],
  channels: ChannelRegistry,
  recent: RecentSends,
  learnt: LearntNumbers,
): MessagingPolicy[] {
  return [
    new OptInRequiredPolicy(channels, optIn),
    new OptedOutPolicy(channels),
    new ServiceWindowPolicy(channels, serviceWindow),
    ...(quietHours ? [new QuietHoursPolicy(quietHours, channels)] : []),
    ...(frequencyCap ? [new FrequencyCapPolicy(channels, frequencyCap, recent, learnt)] : []),
  ];
}
