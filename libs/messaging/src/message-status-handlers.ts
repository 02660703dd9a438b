import { Inject, Injectable, Logger, type OnModuleInit, SetMetadata } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { EventEmitterPublisher } from './event-emitter.publisher.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { MessagingConfigError } from './message/errors.js';
import { MESSAGE_STATUS_CHANGED, type MessageStatusChanged } from './message/events.js';
import type { Channel } from './message/message.js';
import type { ChannelStatus } from './message/status.js';

const HANDLED = Symbol('messaging:on-message-status');

/** Messages of which {@link OnMessageStatus} is called. */
export interface MessageStatusFilter {
  /** @default every channel */
  readonly channel?: Channel | readonly Channel[];
  /** Only messages of sends with this tag. @default every message */
  readonly tag?: string;
}

interface Handled extends MessageStatusFilter {
  readonly statuses: readonly ChannelStatus[];
}

type StatusMethod = (change: MessageStatusChanged) => unknown;

/**
 * Has a method of a provider or controller called when a message gets the status, after the commit,
 * in the process that recorded it. Calls do not wait for each other. An error is logged with the
 * method and its stack, and has no other effect. A process that dies after the commit calls none:
 * work that must not be lost belongs into a `StatusListener`.
 * @example
 * @OnMessageStatus('delivered', { channel: 'sms', tag: 'order' })
 * async onDelivered({ messageId, metadata }: MessageStatusChanged) { … }
 */
export function OnMessageStatus(
  status: ChannelStatus | readonly ChannelStatus[],
  filter: MessageStatusFilter = {},
): <M extends StatusMethod>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void {
  const statuses: readonly ChannelStatus[] = typeof status === 'string' ? [status] : status;
  return (target, key, descriptor) => {
    const handled: Handled = { ...filter, statuses };
    SetMetadata(HANDLED, handled)(target, key, descriptor);
  };
}

/** Calls the methods with {@link OnMessageStatus}. */
@Injectable()
export class MessageStatusHandlers implements OnModuleInit {
  readonly #logger = new Logger('OnMessageStatus');

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(ChannelRegistry) private readonly channels: ChannelRegistry,
    @Inject(EventEmitterPublisher) private readonly events: EventEmitterPublisher,
  ) {}

  /** @throws MessagingConfigError for a status or channel that does not exist, and for providers of a request */
  onModuleInit(): void {
    const found = new Set<object>();
    const scanner = new MetadataScanner();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const { instance } = wrapper as { readonly instance: object | null | undefined };
      if (typeof instance !== 'object' || instance === null || found.has(instance)) continue;
      found.add(instance);
      const prototype = Object.getPrototypeOf(instance) as Record<string, unknown> | null;
      for (const key of scanner.getAllMethodNames(prototype)) {
        const method = prototype?.[key];
        const handled =
          typeof method === 'function' &&
          (Reflect.getMetadata(HANDLED, method) as Handled | undefined);
        if (!handled) continue;
        const name = `${instance.constructor.name}.${key}`;
        this.#check(name, handled, wrapper.isDependencyTreeStatic());
        this.#listen(name, handled, (method as StatusMethod).bind(instance));
      }
    }
  }

  #listen(name: string, handled: Handled, method: StatusMethod): void {
    const { statuses, channel, tag } = handled;
    const channels = typeof channel === 'string' ? [channel] : channel;
    const call = async (change: MessageStatusChanged) => method(change);
    this.events.listen(MESSAGE_STATUS_CHANGED, (change) => {
      if (change.event !== undefined || !statuses.includes(change.status)) return;
      if (channels && !channels.includes(change.channel)) return;
      if (tag !== undefined && !change.tags?.includes(tag)) return;
      call(change).catch((error: unknown) =>
        this.#logger.error(
          `${name} failed for message ${change.messageId}: ${String(error)}`,
          (error as Error | undefined)?.stack,
        ),
      );
    });
  }

  #check(name: string, { statuses, channel }: Handled, isStatic: boolean): void {
    const { channels } = this;
    const refuse = (problem: string): never => {
      throw new MessagingConfigError(`@OnMessageStatus() of ${name}: ${problem}`);
    };
    if (!isStatic) refuse('its provider is made for each request; make it a singleton');
    for (const status of statuses)
      if (channels.rankOf(status) === undefined)
        refuse(`'${status}' is no status of a registered channel`);
    for (const one of channel === undefined ? [] : ([channel].flat() as string[]))
      if (!channels.find(one))
        refuse(`the channel '${one}' is not registered; known are ${channels.names.join(', ')}`);
  }
}
