import { MessagingConfigError } from '../message/errors.js';
import { milliseconds } from '../ports/duration.js';
import type { MessagingPolicy } from '../ports/messaging-policy.js';
import type { PolicyOptions } from '../ports/policy-options.js';
import type { RecentSends } from '../store/recent-sends.js';
import { capsOf, FrequencyCapPolicy } from './frequency-cap.policy.js';
import { OptInRequiredPolicy } from './opt-in-required.policy.js';
import { OptedOutPolicy } from './opted-out.policy.js';
import { QuietHoursPolicy } from './quiet-hours.policy.js';
import { SERVICE_WINDOW, ServiceWindowPolicy } from './service-window.policy.js';

/**
 * The policies in the order they are asked: the built-in ones, then the app's own, unless `order` says
 * otherwise.
 * @throws MessagingConfigError naming the option
 */
export function policiesInOrder(
  options: PolicyOptions,
  own: readonly MessagingPolicy[],
  recent: RecentSends,
): MessagingPolicy[] {
  const { remove = [], order = [] } = options;
  const all = [...builtIn(options, recent), ...own];
  const names = new Set<string>();
  for (const { name } of all) {
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
  { serviceWindow = {}, quietHours, frequencyCap }: PolicyOptions,
  recent: RecentSends,
): MessagingPolicy[] {
  const margin = milliseconds('policy.serviceWindow.margin', serviceWindow.margin ?? '1m');
  if (margin >= SERVICE_WINDOW)
    throw new MessagingConfigError('policy.serviceWindow.margin: must be shorter than 24 hours');
  return [
    new OptInRequiredPolicy(),
    new OptedOutPolicy(),
    new ServiceWindowPolicy(margin, serviceWindow.substitute),
    ...(quietHours ? [new QuietHoursPolicy(quietHours)] : []),
    ...(frequencyCap ? [new FrequencyCapPolicy(capsOf(frequencyCap), recent)] : []),
  ];
}
