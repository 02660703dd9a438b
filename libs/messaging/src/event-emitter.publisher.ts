import { Injectable, Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { MessagingEvents } from './message/events.js';
import type { EventPublisher } from './ports/listeners.js';

/** Publishes events through `@nestjs/event-emitter`, for `@OnEvent()` listeners. */
@Injectable()
export class EventEmitterPublisher implements EventPublisher {
  readonly #logger = new Logger(EventEmitterPublisher.name);

  constructor(private readonly emitter: EventEmitter2) {}

  wants(event: keyof MessagingEvents): boolean {
    return Boolean(this.emitter.hasListeners(event));
  }

  publish<E extends keyof MessagingEvents>(event: E, payload: MessagingEvents[E]): void {
    try {
      this.emitter.emit(event, payload);
    } catch (error) {
      this.#logger.error(`A listener of ${event} failed: ${(error as Error).name}`);
    }
  }
}
