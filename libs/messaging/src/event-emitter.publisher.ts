import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { MessagingEvents } from './message/events.js';
import type { EventPublisher } from './ports/listeners.js';

/**
 * Publishes events through `@nestjs/event-emitter`, for `@OnEvent()` listeners: on the emitter of the
 * app's own `EventEmitterModule.forRoot()`, so that its options such as `wildcard` apply, else on one
 * of the library. `@OnEvent()` listens on every emitter, so that only one may emit.
 */
@Injectable()
export class EventEmitterPublisher implements EventPublisher, OnModuleInit {
  readonly #logger = new Logger(EventEmitterPublisher.name);
  #emitter: EventEmitter2;
  /** Listeners of the library itself; they never throw. */
  readonly #listeners = new Map<keyof MessagingEvents, ((payload: never) => void)[]>();

  constructor(
    private readonly own: EventEmitter2,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
  ) {
    this.#emitter = own;
  }

  onModuleInit(): void {
    const emitters = this.discovery
      .getProviders()
      .map(({ instance }) => instance as unknown)
      .filter((instance) => instance instanceof EventEmitter2);
    this.#emitter = emitters.find((emitter) => emitter !== this.own) ?? this.own;
  }

  wants(event: keyof MessagingEvents): boolean {
    return this.#listeners.has(event) || Boolean(this.#emitter.hasListeners(event));
  }

  /** Calls the listener, which never throws, for each event. */
  listen<E extends keyof MessagingEvents>(
    event: E,
    listener: (payload: MessagingEvents[E]) => void,
  ): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  publish<E extends keyof MessagingEvents>(event: E, payload: MessagingEvents[E]): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(payload as never);
    try {
      this.#emitter.emit(event, payload);
    } catch (error) {
      this.#logger.error(`A listener of ${event} failed: ${(error as Error).name}`);
    }
  }
}
