import { Inject, Injectable } from '@nestjs/common';
import type { Address, AddressKind } from '../../message/address.js';
import { ChannelRegistry } from '../../message/channel-registry.js';
import { type FieldError, MessageValidationError } from '../../message/errors.js';
import type { Channel } from '../../message/message.js';
import { NotificationService } from './notification.service.js';
import type {
  NewNotification,
  NotificationFallback,
  NotificationMessages,
  NotificationReceipt,
  NotificationSendOptions,
} from './notification.js';

/** An entity that gets notifications, such as a customer. */
export interface Notifiable {
  /**
   * Its address on a channel: text, or `{ kind, value }` where the channel takes several kinds.
   * `undefined`: it has none, and the channel is left out.
   */
  routeFor(channel: Channel, notification: Notification): string | Address | null | undefined;
  /** Language of its notifications, such as `fr`. */
  readonly locale?: string | null | undefined;
}

type Made<T> = T | Promise<T>;

/**
 * A notification as a class, with a method for the message of each channel. The methods get the entity
 * and its locale; a channel of the app has a method of its own name.
 * @example
 * class OrderShipped extends Notification<Customer> {
 *   constructor(private readonly order: Order) {
 *     super();
 *   }
 *   via() {
 *     return ['whatsapp', 'sms'] as const;
 *   }
 *   whatsapp({ name }: Customer, locale = 'en') {
 *     return { template: 'order_update', language: locale, params: [name, this.order.number] };
 *   }
 *   sms({ name }: Customer) {
 *     return { from: 'ACME', body: `Hi ${name}, order ${this.order.number} is on its way` };
 *   }
 * }
 */
export abstract class Notification<To extends Notifiable = Notifiable> {
  /** The channels in their order, each once. */
  abstract via(to: To): readonly Channel[];
  sms?(to: To, locale?: string): Made<NotificationMessages['sms']>;
  whatsapp?(to: To, locale?: string): Made<NotificationMessages['whatsapp']>;
  email?(to: To, locale?: string): Made<NotificationMessages['email']>;
  voice?(to: To, locale?: string): Made<NotificationMessages['voice']>;
  /** When the next channel takes over from one whose message has not failed. @default never */
  fallback?(to: To): NotificationFallback | undefined;
  /** Earliest time of the first message. @default at once */
  sendAt?(to: To): Date | undefined;
  /** Tags and metadata of each message. @default none */
  labels?(to: To): Pick<NewNotification, 'tags' | 'metadata'>;
}

export interface NotifyOptions extends NotificationSendOptions {
  /** @default the `locale` of the entity */
  readonly locale?: string;
}

/**
 * Sends notifications that are classes. Each becomes a {@link NewNotification}, which
 * `NotificationService` follows to its end.
 * @example
 * await notifier.send(order.customer, new OrderShipped(order), { manager });
 */
@Injectable()
export class Notifier {
  /** @internal */
  constructor(
    @Inject(NotificationService) private readonly notifications: NotificationService,
    @Inject(ChannelRegistry) private readonly channels: ChannelRegistry,
  ) {}

  /**
   * Accepts the notification, as `NotificationService.send()` does. A channel on which the entity has
   * no address, or for which the notification has no message, is left out.
   * @throws MessageValidationError where no channel is left, and for each wrong field of a message
   */
  async send<To extends Notifiable>(
    to: To,
    notification: Notification<To>,
    { locale = to.locale ?? undefined, ...options }: NotifyOptions = {},
  ): Promise<NotificationReceipt> {
    const recipient: Partial<Record<AddressKind, string>> = {};
    const messages: Record<string, unknown> = {};
    const errors: FieldError[] = [];
    for (const channel of notification.via(to)) {
      const definition = this.channels.find(channel);
      const route = to.routeFor(channel, notification);
      if (route === undefined || route === null) continue;
      const message = await messageOf(notification, channel, to, locale);
      if (message === undefined) continue;
      const kind =
        typeof route === 'object' ? route.kind : (definition?.addressKinds[0] ?? 'phone');
      const value = typeof route === 'object' ? route.value : route;
      if ((recipient[kind] ?? value) !== value)
        errors.push({ path: `routeFor.${channel}`, message: `must be the ${kind} of the others` });
      recipient[kind] = value;
      messages[channel] = message;
    }
    const [first, ...rest] = Object.keys(messages);
    if (first === undefined)
      errors.push({
        path: 'via',
        message:
          'leaves no channel on which the entity has an address and the notification a message',
      });
    if (first === undefined || errors.length > 0) throw new MessageValidationError(errors);
    const fallback = notification.fallback?.(to);
    const sendAt = notification.sendAt?.(to);
    const made: NewNotification = {
      ...messages,
      ...notification.labels?.(to),
      via: [first, ...rest],
      ...(fallback && { fallback }),
      ...(sendAt && { sendAt }),
    };
    return this.notifications.send(made, recipient, options);
  }
}

/** What the method of the channel's name makes; `undefined`: there is none. */
async function messageOf(
  notification: object,
  channel: Channel,
  to: Notifiable,
  locale: string | undefined,
): Promise<unknown> {
  const method: unknown = Reflect.get(notification, channel);
  return typeof method === 'function'
    ? ((await Reflect.apply(method, notification, [to, locale])) as unknown)
    : undefined;
}
