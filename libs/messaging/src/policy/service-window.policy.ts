import type { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import type {
  MessagingPolicy,
  PolicyDecision,
  PolicyDecisions,
  PolicyScope,
  PolicySlice,
} from '../ports/messaging-policy.js';
import type { MessagingSettings } from '../ports/messaging-settings.js';

/** Milliseconds for which an inbound message opens the window. */
export const SERVICE_WINDOW = 24 * 60 * 60 * 1_000;

const DENIED: PolicyDecision = {
  decision: 'deny',
  code: 'window_closed',
  reason: 'has not written in the last 24 hours; only a template may be sent',
};

/**
 * ```
 *        lastInbound                    + 24 h − margin   + 24 h
 * closed │ open                         │ closed early   │ closed
 * ```
 * A time in the future means a wrong clock. Up to `margin` ahead it counts as now, which the margin
 * at the end compensates; further ahead it opens no window.
 */
export function windowIsOpen(lastInboundAt: number | null, now: number, margin: number): boolean {
  if (lastInboundAt === null) return false;
  const age = now - lastInboundAt;
  return age >= -margin && age < SERVICE_WINDOW - margin;
}

/** On channels with a service window, denies all but templates unless the sender's window is open. */
export class ServiceWindowPolicy implements MessagingPolicy {
  readonly name = 'service-window';
  readonly scope: PolicyScope;

  /** @throws MessagingConfigError */
  constructor(
    channels: ChannelRegistry,
    private readonly options: MessagingSettings['policy']['serviceWindow'],
  ) {
    if (options.margin >= SERVICE_WINDOW)
      throw new MessagingConfigError('policy.serviceWindow.margin: must be shorter than 24 hours');
    this.scope = { channels: channels.namesWhere(({ consent }) => consent?.serviceWindow) };
  }

  async decide({ items, now }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    items.forEach((item, index) => {
      const { message, facts } = item;
      if (message.content.kind === 'template') return;
      if (windowIsOpen(facts.lastInboundAt, now, this.options.margin)) return;
      const content = this.options.substitute?.(item);
      decisions.set(index, content === undefined ? DENIED : { decision: 'substitute', content });
    });
    return decisions;
  }
}
