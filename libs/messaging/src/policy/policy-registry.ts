import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import { MESSAGING_POLICY, type MessagingPolicy } from '../ports/messaging-policy.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-settings.js';
import { ProvidedPorts } from '../ports/provided-ports.js';
import { MessageStore } from '../store/message-store.js';
import type { RecentSends } from '../store/reads/recent-sends.js';
import { capsOf, FrequencyCapPolicy } from './frequency-cap.policy.js';
import { OptInRequiredPolicy } from './opt-in-required.policy.js';
import { OptedOutPolicy } from './opted-out.policy.js';
import { QuietHoursPolicy } from './quiet-hours.policy.js';
import { SERVICE_WINDOW, ServiceWindowPolicy } from './service-window.policy.js';

/** The built-in policies and those that the app's modules provide, in order. */
@Injectable()
export class PolicyRegistry implements OnModuleInit {
  #policies: readonly MessagingPolicy[] | undefined;

  constructor(
    @Inject(ProvidedPorts) private readonly provided: ProvidedPorts,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(ChannelRegistry) private readonly channels: ChannelRegistry,
    @Inject(MessageStore) private readonly store: MessageStore,
  ) {}

  /**
   * @throws MessagingConfigError at boot where an option names an unknown policy, or two policies
   *   have one name
   */
  onModuleInit(): void {
    void this.policies;
  }

  get policies(): readonly MessagingPolicy[] {
    return (this.#policies ??= policiesInOrder(
      this.settings.policy,
      this.provided.under<MessagingPolicy>(MESSAGING_POLICY, 'decide', 'a policy with a name'),
      this.channels,
      this.store.recentSends,
    ));
  }
}

/**
 * The policies in the order of their calls: built-in ones, then the app's, unless `order` changes
 * it.
 * @throws MessagingConfigError naming the option
 */
export function policiesInOrder(
  options: MessagingSettings['policy'],
  own: readonly MessagingPolicy[],
  channels: ChannelRegistry,
  recent: RecentSends,
): MessagingPolicy[] {
  const { remove, order } = options;
  const all = [...builtIn(options, channels, recent), ...own];
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
  { serviceWindow, quietHours, frequencyCap }: MessagingSettings['policy'],
  channels: ChannelRegistry,
  recent: RecentSends,
): MessagingPolicy[] {
  if (serviceWindow.margin >= SERVICE_WINDOW)
    throw new MessagingConfigError('policy.serviceWindow.margin: must be shorter than 24 hours');
  return [
    new OptInRequiredPolicy(channels),
    new OptedOutPolicy(),
    new ServiceWindowPolicy(channels, serviceWindow.margin, serviceWindow.substitute),
    ...(quietHours ? [new QuietHoursPolicy(quietHours)] : []),
    ...(frequencyCap
      ? [new FrequencyCapPolicy(channels, capsOf(frequencyCap, channels), recent)]
      : []),
  ];
}
