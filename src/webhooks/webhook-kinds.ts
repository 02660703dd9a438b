import type { Channel } from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { Injectable } from '@nestjs/common';
import { BALANCE_CALLBACKS } from '../billing/thresholds/balance-events.js';
import { GatewayChannels } from '../channel.js';
import { invalidFields } from '../http/api-error.js';
import { MOST_ERRORS } from '../http/validation.js';
import { ALERT_CALLBACKS } from './alert-callbacks.js';
import { NOTIFICATION_CALLBACKS } from './notification-callbacks.js';

/** Sent on request to one webhook, also where it has chosen other events. */
export const TEST_EVENT = 'webhook.test';

/**
 * Kinds of callbacks that a credential may have. `token`: all but those of e-mail, which are of keys
 * with `email:webhooks`; `email_whatsapp`: such a key has `whatsapp:read`, too. `all`: the portal and
 * the command line.
 */
export type CallerKinds = 'all' | 'token' | 'email' | 'email_whatsapp';

function mayHave(caller: CallerKinds, kind: string): boolean {
  const isEmail = kind.startsWith('email.');
  switch (caller) {
    case 'all':
      return true;
    case 'token':
      return !isEmail;
    case 'email':
      return isEmail;
    case 'email_whatsapp':
      return isEmail || kind.startsWith('whatsapp.');
  }
}

/** Kinds of a webhook: its `events`, or all that its maker may have. */
export interface ChosenKinds {
  readonly events: readonly string[] | null;
  readonly madeFor: MadeFor;
}

/** `kept`: from before makers were recorded; it gets every kind, and the API token manages it. */
export type MadeFor = CallerKinds | 'kept';

export function receives({ events, madeFor }: ChosenKinds, kind: string): boolean {
  return events ? events.includes(kind) : madeFor === 'kept' || mayHave(madeFor, kind);
}

/** The makers of webhooks without `events` that a caller may have. */
const VISIBLE = {
  all: [],
  token: ['token', 'kept'],
  email: ['email'],
  email_whatsapp: ['email', 'email_whatsapp'],
} as const satisfies Readonly<Record<CallerKinds, readonly MadeFor[]>>;

/** Whether the caller may have every kind of the webhook. */
export function mayHaveAll(caller: CallerKinds, { events, madeFor }: ChosenKinds): boolean {
  if (events) return events.every((kind) => mayHave(caller, kind));
  const makers: readonly MadeFor[] = VISIBLE[caller];
  return caller === 'all' || makers.includes(madeFor);
}

/** The kinds of callbacks of all channels, of notifications and of balances. */
@Injectable()
export class WebhookKinds {
  /** Those that a webhook may choose, as the portal lists them. */
  readonly all: readonly string[];
  readonly #channels = new Map<string, Channel>();

  constructor(gateway: GatewayChannels, registry: ChannelRegistry) {
    const ofMessages = new Set<string>();
    const others: string[] = [];
    for (const { name, callback } of gateway.all) {
      if (!callback) continue;
      const { statusEvent, receivedEvent = [], others: own = [] } = callback;
      const { statuses, events = [] } = registry.get(name);
      const typeOf = (change: string) => statusEvent.replace('*', change);
      const reported = Object.keys(statuses).filter((status) => statuses[status]?.reported);
      const chosen = [...reported, ...events].map(typeOf).concat(receivedEvent);
      for (const kind of chosen) ofMessages.add(kind);
      others.push(...own.map(({ type }) => type));
      const each = registry.statusesOf(name).map(([status]) => typeOf(status));
      for (const kind of [...each, ...chosen, ...own.map(({ type }) => type)])
        if (!this.#channels.has(kind)) this.#channels.set(kind, name);
    }
    for (const { type } of NOTIFICATION_CALLBACKS) {
      others.push(type);
      this.#channels.set(type, 'notification');
    }
    for (const { type } of ALERT_CALLBACKS) {
      others.push(type);
      this.#channels.set(type, 'alert');
    }
    for (const { type } of BALANCE_CALLBACKS) {
      others.push(type);
      this.#channels.set(type, 'account');
    }
    this.all = [...ofMessages, ...others];
  }

  /** @throws ApiError 422 naming each kind that no callback has, or that the caller may not have */
  check(kinds: readonly string[] | null | undefined, caller: CallerKinds = 'all'): void {
    const errors = (kinds ?? []).flatMap((kind, index) => {
      const path = `events[${index}]`;
      if (!this.#channels.has(kind)) return { path, message: 'is no kind of callback' };
      return mayHave(caller, kind) ? [] : { path, message: REMEDIES[caller] };
    });
    if (errors.length > 0) throw invalidFields(errors.slice(0, MOST_ERRORS));
  }

  /** The channel of a callback by its type; a type of none is the channel of its own. */
  channelOf(type: string): Channel {
    return this.#channels.get(type) ?? type;
  }
}

const REMEDIES: Readonly<Record<CallerKinds, string>> = {
  all: '',
  token: 'is of a key with the scope email:webhooks, and not of the API token',
  email:
    'is no kind of e-mail; take the API token, or for whatsapp.* a key with whatsapp:read, too',
  email_whatsapp: 'is no kind of e-mail or WhatsApp; take the API token',
};
