import type {
  MessagingPolicy,
  PolicyScope,
  PolicySlice,
  Verdict,
  Verdicts,
} from '../ports/messaging-policy.js';
import type { ServiceWindowOptions } from '../ports/policy-options.js';

/** Milliseconds a customer's message opens the window for (interface section 3.1). */
export const SERVICE_WINDOW = 24 * 60 * 60 * 1_000;

const DENIED: Verdict = {
  decision: 'deny',
  code: 'window_closed',
  reason: 'has not written in the last 24 hours; only a template may be sent',
};

/**
 * ```
 *        lastInbound                    + 24 h − margin   + 24 h
 * closed │ open                         │ closed, by us   │ closed
 * ```
 * A message from the time to come is a clock gone wrong: up to `margin` ahead it counts as now, which
 * the margin at the other end makes up for; beyond that it opens nothing.
 */
export function windowIsOpen(lastInboundAt: number | null, now: number, margin: number): boolean {
  if (lastInboundAt === null) return false;
  const age = now - lastInboundAt;
  return age >= -margin && age < SERVICE_WINDOW - margin;
}

/** Free-form WhatsApp messages only while the window of the sending number is open. */
export class ServiceWindowPolicy implements MessagingPolicy {
  readonly name = 'service-window';
  readonly scope: PolicyScope = { channels: ['whatsapp'] };

  constructor(
    /** Milliseconds. */
    private readonly margin: number,
    private readonly substitute: ServiceWindowOptions['substitute'],
  ) {}

  async decide({ items, now }: PolicySlice): Promise<Verdicts> {
    const verdicts = new Map<number, Verdict>();
    items.forEach((item, index) => {
      const { message, facts } = item;
      if (message.channel !== 'whatsapp' || message.content.kind !== 'text') return;
      if (windowIsOpen(facts.lastInboundAt, now, this.margin)) return;
      const content = this.substitute?.(item);
      verdicts.set(index, content === undefined ? DENIED : { decision: 'substitute', content });
    });
    return verdicts;
  }
}
