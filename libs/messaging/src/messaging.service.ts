import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AnyChannelService, ChannelContext } from './channels/channel.service.js';
import type { LaneHealth } from './store/reads/lane-queues.js';
import { MessageStore } from './store/message-store.js';
import type { Channel, MessageClass } from './message/message.js';
import type { TraceContext } from './ports/tracing.js';
import { DISPATCH_ENGINE, type DispatchEngine } from './ports/dispatch-engine.js';
import { type EngineHealth, healthOf } from './ports/engine-health.js';

/** What is common to all channels. */
@Injectable()
export class MessagingService {
  constructor(
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(DISPATCH_ENGINE) private readonly engine: DispatchEngine,
    @Inject(ChannelContext) private readonly context: ChannelContext,
  ) {}

  /**
   * Sends on a channel by its definition alone and follows what was sent.
   *
   * @example
   * await messaging.channel('telegram').send({ to: 'platform:42', content: { kind: 'text', text: 'Hello' } });
   * @throws MessagingConfigError for a channel that is not registered
   */
  channel(name: Channel): AnyChannelService {
    return new AnyChannelService(this.context.channels.get(name), this.context);
  }

  /**
   * Runs `work` in a transaction of the app's data source, READ COMMITTED, again after a deadlock.
   * On SQLite TypeORM shares one connection among all flows, and of two concurrent
   * `dataSource.transaction()` calls one joins the other; here they take turns, with the store, too.
   *
   * @example
   * await messaging.transaction(async (manager) => {
   *   await manager.save(order);
   *   await sms.send(message, { manager });
   * });
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.store.database.callerTransaction(work);
  }

  /** How long the oldest due message of each class has waited, in milliseconds; 0: nothing is due. */
  queueAges(): Promise<Readonly<Record<MessageClass, number>>> {
    return this.store.queues.ages();
  }

  /** Ends a lane's pause; within seconds somebody works on it. False: there is no such lane. */
  resumeLane(lane: string): Promise<boolean> {
    return this.store.lanes.resume(lane);
  }

  /** The trace a batch was sent in; `undefined` where nobody recorded it, or retention erased it. */
  traceOf(batchId: string): Promise<TraceContext | undefined> {
    return this.store.traces.of(batchId);
  }

  /** Lanes that are paused or have due work. */
  lanes(): Promise<LaneHealth[]> {
    return this.store.queues.health();
  }

  /** Whether the engine's broker takes wakes; sends are accepted and leave even where it does not. Never throws. */
  engineHealth(): Promise<EngineHealth> {
    return healthOf(this.engine);
  }
}
