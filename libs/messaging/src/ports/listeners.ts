import { Inject, Injectable, Logger, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import type { Address } from '../message/address.js';
import { isLogged } from './log-sampling.js';
import { MESSAGING_SPEND_GUARD, type SpendGuard, SpendGuards } from './spend-guard.js';
import { MessagingConfigError } from '../message/errors.js';
import type {
  CancelledBatch,
  InboundReceived,
  MessageStatusChanged,
  MessagingEvents,
  NotificationChange,
} from '../message/events.js';
import type { TemplateStatusUpdate } from '../message/templates.js';

/**
 * Called inside the transaction that changes statuses: writes through `manager` commit or roll back
 * with them. The listener must only use the database, through `manager`.
 */
export interface StatusListener {
  /** Not for messages that are cancelled before they have started. */
  onStatusChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void>;
  /** Tells of those by batch; `MESSAGE_STATUS_CHANGED` tells of each after the commit. */
  onCancelled?(batches: readonly CancelledBatch[], manager: EntityManager): Promise<void>;
  /** Tells of notifications that went on to another channel, ended, or arrived twice. */
  onNotifications?(changes: readonly NotificationChange[], manager: EntityManager): Promise<void>;
}

/**
 * Injection token of {@link StatusListener}s; any module may provide one, or an array.
 * @example
 * providers: [{ provide: MESSAGING_STATUS_LISTENER, useClass: Outbox }]
 */
export const MESSAGING_STATUS_LISTENER = Symbol('MESSAGING_STATUS_LISTENER');

/** Called inside the transaction that stores inbound messages; as {@link StatusListener}. */
export interface InboundListener {
  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void>;
}

/** Injection token of {@link InboundListener}s; any module may provide one, or an array. */
export const MESSAGING_INBOUND_LISTENER = Symbol('MESSAGING_INBOUND_LISTENER');

/**
 * Called with the changes of templates that a callback reports, before it is answered: where it
 * throws, the provider repeats the callback. It may be called again with the same changes.
 */
export interface TemplateListener {
  onTemplatesChanged(updates: readonly TemplateStatusUpdate[]): Promise<void>;
}

/** Injection token of {@link TemplateListener}s; any module may provide one, or an array. */
export const MESSAGING_TEMPLATE_LISTENER = Symbol('MESSAGING_TEMPLATE_LISTENER');

/** A person whose address leaves the store. */
export interface ErasedAddress {
  readonly tenant: string;
  readonly address: Address;
}

/**
 * Called by an erasure after the library erased the address in its own tables: erases it in the
 * app's. May be called again for the same address, also by another process.
 */
export interface ErasureListener {
  /** @param manager of the transaction that the erasure joined; without one, use own transactions */
  onErased(erased: ErasedAddress, manager?: EntityManager): Promise<void>;
}

/** Injection token of {@link ErasureListener}s; any module may provide one, or an array. */
export const MESSAGING_ERASURE_LISTENER = Symbol('MESSAGING_ERASURE_LISTENER');

class Listeners<L extends object> {
  readonly #logger = new Logger('MessagingListeners');
  /** Failures in a row. */
  readonly #failures = new Map<L, number>();
  protected readonly all: L[] = [];

  add(...listeners: readonly L[]): void {
    this.all.push(...listeners);
  }

  get empty(): boolean {
    return this.all.length === 0;
  }

  /** A failure rolls the transaction back, and most are repeated: not each one is logged. */
  protected async each(call: (listener: L) => Promise<void>): Promise<void> {
    for (const listener of this.all)
      try {
        await call(listener);
        this.#failures.delete(listener);
      } catch (error) {
        const failures = (this.#failures.get(listener) ?? 0) + 1;
        this.#failures.set(listener, failures);
        if (isLogged(failures))
          this.#logger.error(
            `${listener.constructor.name} failed, failure ${failures} in a row; its transaction is rolled back: ${String(error)}`,
            (error as Error | undefined)?.stack,
          );
        throw error;
      }
  }
}

export class StatusListeners extends Listeners<StatusListener> {
  async notify(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    await this.each((listener) => listener.onStatusChanged(changes, manager));
  }

  /** Whether a listener wants to know of messages that are cancelled before they have started. */
  get hearCancelled(): boolean {
    return this.all.some((listener) => typeof listener.onCancelled === 'function');
  }

  async notifyCancelled(batches: readonly CancelledBatch[], manager: EntityManager): Promise<void> {
    await this.each(async (listener) => listener.onCancelled?.(batches, manager));
  }

  async notifyNotifications(
    changes: readonly NotificationChange[],
    manager: EntityManager,
  ): Promise<void> {
    await this.each(async (listener) => listener.onNotifications?.(changes, manager));
  }
}

export class InboundListeners extends Listeners<InboundListener> {
  async notify(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    await this.each((listener) => listener.onInbound(received, manager));
  }
}

export class TemplateListeners extends Listeners<TemplateListener> {
  async notify(updates: readonly TemplateStatusUpdate[]): Promise<void> {
    await this.each((listener) => listener.onTemplatesChanged(updates));
  }
}

export class ErasureListeners extends Listeners<ErasureListener> {
  async notify(erased: ErasedAddress, manager?: EntityManager): Promise<void> {
    await this.each((listener) => listener.onErased(erased, manager));
  }
}

/** Publishes events after their commit. Never throws. */
export interface EventPublisher {
  /** Whether the event has listeners. Events without listeners are not built. */
  wants(event: keyof MessagingEvents): boolean;
  publish<E extends keyof MessagingEvents>(event: E, payload: MessagingEvents[E]): void;
}

/** Finds the app's providers under the tokens of ports with several providers. */
@Injectable()
export class ProvidedPorts implements OnModuleInit {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(StatusListeners) private readonly statuses: StatusListeners,
    @Inject(InboundListeners) private readonly inbound: InboundListeners,
    @Inject(ErasureListeners) private readonly erasures: ErasureListeners,
    @Inject(TemplateListeners) private readonly templates: TemplateListeners,
    @Inject(SpendGuards) private readonly spend: SpendGuards,
  ) {}

  /** @throws MessagingConfigError where a provider is no listener, or another overrides it */
  onModuleInit(): void {
    this.statuses.add(...this.under(MESSAGING_STATUS_LISTENER, 'onStatusChanged', 'a listener'));
    this.inbound.add(...this.under(MESSAGING_INBOUND_LISTENER, 'onInbound', 'a listener'));
    this.erasures.add(...this.under(MESSAGING_ERASURE_LISTENER, 'onErased', 'a listener'));
    this.templates.add(
      ...this.under(MESSAGING_TEMPLATE_LISTENER, 'onTemplatesChanged', 'a listener'),
    );
    const [guard, other] = this.under<SpendGuard>(MESSAGING_SPEND_GUARD, 'onAccepted', 'a guard');
    if (other)
      throw new MessagingConfigError(
        'MESSAGING_SPEND_GUARD: two modules provide a guard; provide one that asks both',
      );
    if (guard) this.spend.set(guard);
  }

  /**
   * Returns each instance once, in the order of the modules.
   * @param expected description of an instance with `method`, for the error
   * @throws MessagingConfigError
   */
  under<T>(token: symbol, method: keyof T & string, expected: string): T[] {
    const name = String(token.description);
    for (const { metatype } of this.modules.values()) refuseLost(metatype, token, name);
    const provided = this.discovery
      .getProviders()
      .filter((one) => one.token === token)
      .flatMap(({ instance }) => instance as T);
    for (const one of provided)
      if (typeof one?.[method] !== 'function')
        throw new MessagingConfigError(
          `${name}: must provide ${expected}, with ${method}(), or an array of them`,
        );
    return [...new Set(provided)];
  }
}

/** Nest keeps only the last of several providers with the same token in a module. */
function refuseLost(module: Type, token: symbol, name: string): void {
  const providers = (Reflect.getMetadata('providers', module) ?? []) as (
    | { readonly provide?: unknown }
    | undefined
  )[];
  if (providers.filter((one) => one?.provide === token).length > 1)
    throw new MessagingConfigError(
      `${name}: ${module.name} provides it more than once, and Nest keeps only the last; provide an array, { provide: ${name}, useFactory: (...all) => all, inject: [A, B] }`,
    );
}
