import type { ChannelDefinition, ChannelRegistry } from '@dundun/messaging';
import { invalidFields } from '../http/api-error.js';
import { MOST_ERRORS } from '../http/validation.js';

/** Callbacks that belong to no message. */
const DOMAIN_EVENTS = ['email.domain_verified', 'email.domain_failed'];

/** Sent on request to one webhook, also where it has chosen other events. */
export const TEST_EVENT = 'webhook.test';

/** Every kind of callback that a webhook may choose. */
export function webhookKinds({ all }: Pick<ChannelRegistry, 'all'>): string[] {
  return [...all.flatMap(kindsOf), ...DOMAIN_EVENTS];
}

/** Kinds of callbacks of a channel; none where it has no callbacks. */
function kindsOf({ wire, statuses, events = [] }: ChannelDefinition): string[] {
  if (!wire) return [];
  const reported = Object.keys(statuses).filter((status) => statuses[status]?.reported);
  const kinds = [...reported, ...events].map((name) => wire.statusEvent.replace('*', name));
  return [
    ...new Set([...kinds, ...(wire.receivedEvent === undefined ? [] : [wire.receivedEvent])]),
  ];
}

/** @throws ApiError 422 naming each kind that no callback has */
export function checkKinds(
  channels: Pick<ChannelRegistry, 'ofEvent'>,
  kinds: readonly string[] | null | undefined,
): void {
  const errors = (kinds ?? []).flatMap((kind, index) => {
    const isKnown = channels.ofEvent(kind) ?? DOMAIN_EVENTS.includes(kind);
    return isKnown ? [] : { path: `events[${index}]`, message: 'is no kind of callback' };
  });
  if (errors.length > 0) throw invalidFields(errors.slice(0, MOST_ERRORS));
}
