import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AnyChannelService, ChannelContext } from './channels/channel.service.js';
import { PlaceKeeper } from './dispatch/place-keeper.js';
import { ProviderStates } from './dispatch/provider-state.js';
import type { LaneHealth } from './store/reads/lane-queues.js';
import { MessageStore } from './store/message-store.js';
import type { ProviderPause } from './store/verbs/provider-pauses.js';
import type { Channel, MessageClass } from './message/message.js';
import type { ProviderHealth } from './message/views.js';
import { MessagingConfigError } from './message/errors.js';
import {
  MESSAGE_TRANSPORTS,
  type ProviderAccount,
  type Transports,
} from './ports/message-transport.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from './ports/messaging-settings.js';
import { type Duration, milliseconds } from './ports/option-schema.js';
import type { WriteHealth } from './store/database/write-watch.js';
import type { PassedMessages } from './ports/metrics.js';
import type { TraceContext } from './ports/tracing.js';
import {
  DISPATCH_ENGINE,
  type DispatchEngine,
  type EngineHealth,
} from './ports/dispatch-engine.js';

@Injectable()
export class MessagingService {
  /** @internal */
  constructor(
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(DISPATCH_ENGINE) private readonly engine: DispatchEngine,
    @Inject(ChannelContext) private readonly context: ChannelContext,
    @Inject(MESSAGE_TRANSPORTS) private readonly transports: Transports,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(PlaceKeeper) private readonly places: PlaceKeeper,
    @Inject(ProviderStates) private readonly states: ProviderStates,
  ) {}

  /**
   * The service of a channel. @throws MessagingConfigError where it is not registered
   * @example
   * await messaging.channel('telegram').send({ to: 'platform:42', content: { kind: 'text', text: 'Hello' } });
   */
  channel(name: Channel): AnyChannelService {
    return new AnyChannelService(name, this.context);
  }

  /**
   * Runs `work` in a READ COMMITTED transaction of the app's data source; repeats it after a
   * deadlock. On SQLite it also serialises transactions: TypeORM shares one connection, and of two
   * concurrent `dataSource.transaction()` calls the second joins the first. Meanwhile all other writes
   * wait, and statements of other flows on the data source run within the transaction: they read what it
   * has not committed yet. `work` waits for no network.
   * @example
   * await messaging.transaction(async (manager) => {
   *   await manager.save(order);
   *   await sms.send(message, { manager });
   * });
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.store.database.callerTransaction(work);
  }

  /** How long writes of this process wait, for their turn or for the database; it reads no database. */
  writeHealth(): WriteHealth {
    return this.store.database.writeHealth();
  }

  /**
   * Whether a transaction of this process has run no statement for `after`, while the database answers
   * another connection: what waits for it waits until the process restarts. It is false while the database
   * is away, or locked by another process.
   * @param after @default '60s'
   * @throws MessagingConfigError where `after` is no duration
   */
  isStuck(after: Duration = '60s'): Promise<boolean> {
    return this.store.database.isStuck(milliseconds('after', after));
  }

  /** Wait of the oldest due message of each class, in milliseconds; 0 where none is due. */
  queueAges(): Promise<Readonly<Record<MessageClass, number>>> {
    return this.store.queues.ages();
  }

  /** Trace context of a batch's send; `undefined` where none was recorded or kept. */
  traceOf(batchId: string): Promise<TraceContext | undefined> {
    return this.store.traces.add(batchId);
  }

  /** Lanes that are paused or have due work. */
  lanes(): Promise<LaneHealth[]> {
    return this.store.queues.health();
  }

  /** The configured providers with their present state. */
  async providers(): Promise<ProviderHealth[]> {
    const [load, list, taken] = await Promise.all([
      this.store.changes.load(),
      this.store.providerPauses.list(),
      this.places.taken(),
    ]);
    const pauses = new Map(list.map((pause) => [pause.provider, pause]));
    return [...this.transports].map(([name, { capabilities }]) => {
      const { max, per } = this.settings.providers?.[name]?.rateLimit ?? {};
      return {
        name,
        channels: capabilities.channels ?? null,
        rateLimit: max === undefined || per === undefined ? null : { max, per },
        rate: load.get(name)?.rate ?? 0,
        inFlight: load.get(name)?.inFlight ?? 0,
        connections: capabilities.connections ?? null,
        places: taken.get(name) ?? null,
        ...pauseOf(pauses.get(name), this.context.clock.now()),
      };
    });
  }

  /**
   * Asks a provider whether it takes the credential of the account, without sending anything.
   * @returns `undefined` where its transport cannot ask, as one that simulates
   * @throws SubmitFailure with the reason and its remedy; MessagingConfigError where there is no such provider
   */
  async checkProvider(name: string, signal: AbortSignal): Promise<ProviderAccount | undefined> {
    const transport = this.transports.get(name);
    if (!transport)
      throw new MessagingConfigError(
        `provider: there is no provider ${name}; there are ${[...this.transports.keys()].join(', ')}`,
      );
    return transport.checkAccount?.(signal);
  }

  /**
   * Messages of this process, since its start, that left after later ones of their lane and provider, by
   * the reason.
   */
  passedMessages(): PassedMessages[] {
    return [...this.states].flatMap(([provider, { passes }]) =>
      [...passes].map(([reason, messages]) => ({ provider, reason, messages })),
    );
  }

  /** The providers that accept nothing now, over all processes; one small read. */
  async pausedProviders(): Promise<
    Pick<ProviderHealth, 'name' | 'state' | 'pauseReason' | 'pauseDetail' | 'pausedUntil'>[]
  > {
    const now = this.context.clock.now();
    const pauses = await this.store.providerPauses.list();
    return pauses
      .filter(({ provider }) => this.transports.has(provider))
      .map((pause) => ({ name: pause.provider, ...pauseOf(pause, now) }));
  }

  /**
   * Whether this process sends, or waits until other processes leave enough connections to a provider
   * that limits them, as `smpp()` does by `maxBinds`.
   */
  get isWaitingForPlaces(): boolean {
    return this.settings.dispatch.enabled && !this.places.isLeased;
  }

  /** Whether the engine's broker accepts wakes; messages leave without it, too. Never throws. */
  async engineHealth(): Promise<EngineHealth> {
    return (await this.engine.health?.()) ?? { state: 'up', reason: null };
  }
}

function pauseOf(
  pause: ProviderPause | undefined,
  now: number,
): Pick<ProviderHealth, 'state' | 'pauseReason' | 'pauseDetail' | 'pausedUntil'> {
  if (!pause) return { state: 'up', pauseReason: null, pauseDetail: null, pausedUntil: null };
  const { reason, pausedFor } = pause;
  const [, code, detail] = /^([^:]*): (.*)$/s.exec(reason) ?? [];
  return {
    state: pausedFor > 0 ? 'paused' : 'probing',
    pauseReason: code ?? reason,
    pauseDetail: detail ?? reason,
    pausedUntil: new Date(now + pausedFor),
  };
}
