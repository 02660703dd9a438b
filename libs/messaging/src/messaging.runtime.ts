import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { CancellationQueue } from './cancellation-queue.js';
import { InboundRecorder } from './contacts/inbound.js';
import type { Dispatcher } from './dispatch/dispatcher.js';
import {
  clockJob,
  erasureJob,
  type MessagingJob,
  MessagingJobs,
  outcomesAgeJob,
  outcomesJob,
  purgeJob,
  templatesJob,
  wakeJob,
} from './jobs/messaging.jobs.js';
import { JobIntervals } from './jobs/job-intervals.js';
import { reconcileJob } from './jobs/reconcile.job.js';
import { MessagingConfigError, namingProvider } from './message/errors.js';
import { SyncedTemplates } from './message/templates.js';
import { TemplateListeners } from './ports/listeners.js';
import { DispatchParts, ServiceJobs } from './runtime-parts.js';
import type { WorkQueues } from './work-queues.js';
import { MessageStore } from './store/message-store.js';
import {
  MESSAGE_TRANSPORTS,
  type MessageTransport,
  type Transports,
} from './ports/message-transport.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from './ports/messaging-settings.js';
import { warnWithoutShutdownHooks } from './shutdown-hooks.js';

/** Milliseconds after `shutdownTimeout` in which outcomes are recorded and lanes released. */
const CLEANUP_TIMEOUT = 2_000;

/** Milliseconds between two reads of the holds, and of the pauses of providers. */
const HOLDS_EVERY = 1_000;

/** Milliseconds between two tries to take places at providers that limit connections. */
const PLACES_EVERY = 1_000;

type LifecycleHooks = OnModuleInit &
  OnApplicationBootstrap &
  OnModuleDestroy &
  BeforeApplicationShutdown &
  OnApplicationShutdown;

/**
 * Starts dispatch and jobs after every module; stops them before the servers close. Passes each
 * lifecycle hook on to the transports: they are in a map, which Nest does not search.
 */
@Injectable()
export class MessagingRuntime implements LifecycleHooks {
  readonly #logger = new Logger('Messaging');
  #jobs: MessagingJobs | undefined;
  #isDispatching = false;
  #stopWarning = (): void => undefined;

  constructor(
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(DispatchParts) private readonly dispatch: DispatchParts,
    @Inject(ServiceJobs) private readonly services: ServiceJobs,
    @Inject(InboundRecorder) private readonly inbound: InboundRecorder,
    @Inject(MESSAGE_TRANSPORTS) private readonly transports: Transports,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(TemplateListeners) private readonly templateListeners: TemplateListeners,
    @Inject(JobIntervals) private readonly intervals: JobIntervals,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.settings.dispatch.enabled && this.store.cancellations.providers.length > 0)
      this.dispatch.queues.add(
        new CancellationQueue(this.store, this.transports, this.dispatch.places),
      );
    await this.#eachTransport((transport) => transport.onModuleInit?.());
  }

  async onApplicationBootstrap(): Promise<void> {
    const { store, transports } = this;
    await this.#eachTransport((transport) => transport.onApplicationBootstrap?.());
    for (const [provider, transport] of transports) {
      const origin = { provider, transport: provider };
      await namingProvider(`provider ${provider}`, () =>
        transport.listen?.(
          (reports) => store.reports.record(reports, origin),
          (messages) => this.inbound.record(messages, origin),
        ),
      );
    }
    this.#logger.log(this.#summary());
    const jobs = [...this.dispatch.queues.jobs, ...this.#templateJobs()];
    if (this.settings.dispatch.enabled) {
      this.#stopWarning = warnWithoutShutdownHooks(this.#logger, this.settings.dispatch.lease);
      jobs.push(
        clockJob(store),
        wakeJob(this.dispatch.dispatcher, 'wake', async (horizon) => {
          const due = await store.queues.due(horizon);
          const abandoned = await store.queues.abandoned();
          const own = abandoned.filter(
            (lane) => !this.dispatch.queues.owns(lane) && !this.dispatch.places.owns(lane),
          );
          const found = [...due, ...own.map((lane) => ({ lane, dueIn: 0 }))];
          return found.filter(({ lane }) => !this.dispatch.holds.of(lane));
        }),
        { name: 'holds', every: HOLDS_EVERY, run: () => this.dispatch.holds.refresh() },
        this.#placed({
          name: 'providers',
          every: HOLDS_EVERY,
          run: () => this.dispatch.providers.refresh(),
        }),
        this.#placed(reconcileJob(store, transports)),
        ...(this.dispatch.places.isNeeded
          ? [{ name: 'places', every: PLACES_EVERY, run: () => this.#start() }]
          : []),
        erasureJob(store),
        ...this.services.jobs,
        ...(store.purge.enabled ? [purgeJob(store)] : []),
        ...this.#outcomeJobs(),
      );
      await this.dispatch.holds.refresh();
      await this.dispatch.providers.refresh();
      await this.#start();
    }
    // After a failure here, a process that dispatches notices the restore before it sends anything.
    else await store.holds.noticeRestore().catch(() => undefined);
    if (jobs.length === 0) return;
    await this.dispatch.queues.start();
    this.#jobs = new MessagingJobs(this.intervals, jobs);
    await this.#jobs.start();
  }

  #outcomeJobs(): readonly MessagingJob[] {
    const { outcomeCounts } = this.store;
    if (!outcomeCounts) return [];
    const { outcomes } = this.settings.store.retention;
    return [
      outcomesJob(outcomeCounts),
      ...(outcomes === undefined ? [] : [outcomesAgeJob(outcomeCounts, outcomes)]),
    ];
  }

  /** Runs the periodic jobs once, for tests that advance the clock. */
  async runJobs(): Promise<void> {
    await this.#jobs?.runAll();
  }

  async onModuleDestroy(): Promise<void> {
    const begun = performance.now();
    this.#stopWarning();
    const { shutdownTimeout } = this.settings.dispatch;
    this.store.database.setShutdownDeadline(shutdownTimeout);
    const until = begun + shutdownTimeout + CLEANUP_TIMEOUT;
    this.dispatch.places.stop();
    const parts = [
      this.dispatch.dispatcher,
      this.dispatch.queues,
      ...(this.#jobs ? [this.#jobs] : []),
    ];
    await Promise.all(parts.map((part) => this.#stop(part, until)));
    if (this.#jobs)
      this.#logger.log(`Dispatch stopped in ${Math.round(performance.now() - begun)} ms`);
    await this.#eachTransport((transport) => transport.onModuleDestroy?.());
  }

  async beforeApplicationShutdown(signal?: string): Promise<void> {
    await this.#eachTransport((transport) => transport.beforeApplicationShutdown?.(signal));
  }

  async onApplicationShutdown(signal?: string): Promise<void> {
    try {
      await this.#eachTransport((transport) => transport.onApplicationShutdown?.(signal));
    } finally {
      await this.dispatch.places.giveUp();
      await this.services.idle();
      await this.store.close();
    }
  }

  /** Takes lanes from the time when the process has its places at the providers that limit connections. */
  async #start(): Promise<void> {
    await this.dispatch.places.take();
    if (this.#isDispatching || !this.dispatch.places.isLeased) return;
    this.#isDispatching = true;
    await this.dispatch.dispatcher.start();
  }

  /** A job that uses the connections of providers; one that has them does it for those that wait. */
  #placed(job: MessagingJob): MessagingJob {
    return {
      ...job,
      run: async (signal) => (this.dispatch.places.isLeased ? job.run(signal) : undefined),
    };
  }

  /** Every process that accepts messages checks their templates. @throws MessagingConfigError */
  #templateJobs(): readonly MessagingJob[] {
    const { templates, syncTemplates } = this.settings.whatsapp;
    if (!(templates instanceof SyncedTemplates)) return [];
    const listing = new Map(
      [...this.transports].filter(([, one]) => typeof one.fetchTemplates === 'function'),
    );
    if (listing.size === 0)
      throw new MessagingConfigError(
        "whatsapp.templates: is 'synced', and no provider lists templates; pass wabaId to whatsappCloud(), or the templates themselves",
      );
    this.templateListeners.add({ onTemplatesChanged: async (all) => templates.update(all) });
    return [templatesJob(templates, syncTemplates, listing)];
  }

  /** Configuration that the process sends with. Addresses and credentials are not in it. */
  #summary(): string {
    const { transports, store, settings } = this;
    const { engine } = this.dispatch;
    const providers = [...transports].map(([name, transport]) =>
      name === transport.name ? name : `${name} (${transport.name})`,
    );
    const database = store.database.dataSource.options.type;
    const dispatch = settings.dispatch.enabled ? 'on' : 'off: this process only accepts';
    return `Providers: ${providers.join(', ')}; database: ${database}; engine: ${engine.name ?? engine.constructor.name}; dispatch: ${dispatch}`;
  }

  async #eachTransport(
    call: (transport: MessageTransport & Partial<LifecycleHooks>) => unknown,
  ): Promise<void> {
    await Promise.all(
      [...this.transports].map(([name, transport]) =>
        namingProvider(`provider ${name}`, () => call(transport)),
      ),
    );
  }

  /** Waits until `until`, then logs unfinished work and continues. */
  async #stop(part: Dispatcher | WorkQueues | MessagingJobs, until: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, until - performance.now(), 'late');
    });
    if ((await Promise.race([part.stop(), late])) === 'late')
      this.#logger.error(
        `Not stopped in time, left behind: ${part.underWay}. The lanes are free after their leases expire`,
      );
    clearTimeout(timer);
  }
}
