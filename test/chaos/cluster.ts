import { expect } from '@jest/globals';
import { relative } from 'node:path';
import type { DataSource } from 'typeorm';
import { App } from './app.js';
import { Callers } from './callers.js';
import { CompiledSources } from './compiled-sources.js';
import { type Findings, audit } from './audit.js';
import { LaneOrders } from './order.js';
import { seedOf } from './processes/chance.js';
import {
  type AppEvent,
  type AppSettings,
  type Arming,
  type BookEntry,
  type Send,
} from './processes/protocol.js';
import { Seed } from './seed.js';
import { type Found, until } from './until.js';
import { Upstream } from './upstream.js';

export interface ClusterSettings extends Pick<
  AppSettings,
  'database' | 'honoursKeys' | 'redis' | 'channel' | 'redials' | 'pays'
> {
  readonly replicas: number;
  /** A second upstream gets what the first refuses. @default false */
  readonly failover?: boolean;
  readonly options?: Partial<AppSettings['options']>;
}

export interface Start {
  readonly key: string;
  readonly messages: number;
  readonly at: number;
  readonly by: App;
}

const TABLES = [
  'report',
  'message',
  'submission',
  'batch_chunk',
  'batch',
  'lane',
  'provider_pause',
];

/** Phases of a batch to which nothing more happens. */
const ENDED = 5;

/** Replicas of the app on one database, the upstream they send to, and all messages of the replicas. */
export class Cluster {
  readonly callers = new Callers();
  readonly starts: Start[] = [];
  readonly #orders = new LaneOrders();
  readonly #apps = new Set<App>();
  readonly #adding = new Set<Promise<App>>();
  #count = 0;
  #turn = 0;
  #stopped = false;
  #started = 0;
  kills = 0;
  /** How many times an event loop stood still for longer than a lease. */
  blocks = 0;

  private constructor(
    private readonly sources: CompiledSources,
    readonly upstream: Upstream,
    readonly next: Upstream | undefined,
    private readonly settings: ClusterSettings,
    private readonly store: DataSource,
    readonly seed: Seed,
  ) {}

  static async start(settings: ClusterSettings, store: DataSource): Promise<Cluster> {
    const sources = await CompiledSources.make();
    const seed = new Seed();
    const script = sources.path('upstream.process.js');
    const upstream = await Upstream.start(script, seedOf(seed.value, 'upstream'));
    await upstream.set({ honoursKeys: settings.honoursKeys });
    const next = settings.failover
      ? await Upstream.start(script, seedOf(seed.value, 'next upstream'))
      : undefined;
    await next?.set({ honoursKeys: settings.honoursKeys });
    const cluster = new Cluster(sources, upstream, next, settings, store, seed);
    process.stdout.write(`chaos: ${cluster.replay}\n`);
    try {
      // The first replica creates the tables; rows of an earlier cluster are ignored.
      await cluster.#add();
      for (const table of TABLES) await store.query(`DELETE FROM messaging_${table}`);
      await Promise.all(Array.from({ length: settings.replicas - 1 }, () => cluster.#add()));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** The command that draws the same chances again. */
  get replay(): string {
    const full = process.env['CHAOS'] === 'full' ? 'CHAOS=full ' : '';
    const path = relative(process.cwd(), expect.getState().testPath ?? '');
    return `${full}CHAOS_SEED=${this.seed.value} npm test -- ${path}`;
  }

  /** A test begins: its chances are its own, so that it can be replayed without those before it. */
  begin(): void {
    this.seed.begin(expect.getState().currentTestName ?? '');
  }

  get apps(): readonly App[] {
    return [...this.#apps];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#adding);
    await Promise.all(this.apps.map((app) => app.end()));
    await this.upstream.stop();
    await this.next?.stop();
  }

  /** Makes `count` messages' worth of sends, some of them to several recipients, on two lanes. */
  sends(count: number, tenants = ['a', 'b'], most = 5): Send[] {
    const sends: Send[] = [];
    for (let messages = 0; messages < count;) {
      const size = this.seed.below(4) === 0 ? Math.min(count - messages, most) : 1;
      const to = Array.from({ length: size }, (_, i) => `23480${10_000_000 + this.#count + i}`);
      this.#count += size;
      messages += size;
      sends.push({
        key: `s${this.#count}`,
        tenant: tenants[this.seed.below(tenants.length)] as string,
        to,
      });
    }
    return sends;
  }

  /**
   * Hands the sends to the replicas in turn. A replica that dies has its unanswered sends repeated to
   * another under the same key, as a caller would.
   */
  async send(sends: readonly Send[]): Promise<void> {
    const done = sends.map((send) => this.callers.answered(send));
    for (const send of sends) {
      // All replicas may be dead, before their successors have started.
      const apps = await this.#until(() => this.#apps.size > 0 && this.apps);
      this.callers.hand(send, apps[this.#turn++ % apps.length] as App);
    }
    await Promise.all(done);
  }

  /** Each one after the one before was accepted, by whichever replica: their order is known. */
  async sendInTurn(sends: readonly Send[]): Promise<void> {
    for (const send of sends) await this.send([send]);
  }

  /** All replicas, once they have started. */
  async arm(arming: Arming): Promise<void> {
    await this.whole();
    for (const app of this.#apps) app.tell({ command: 'arm', ...arming });
  }

  disarm(): void {
    for (const app of this.#apps) app.tell({ command: 'disarm' });
  }

  /** Kills the process that sent the first request of a burst; resolves once it is dead and all sends were accepted. */
  async killOnTheWire(burst: () => Promise<void>): Promise<void> {
    const held = new Promise<string>((resolve) => this.upstream.onHeld(resolve));
    await this.upstream.set({ hold: true });
    const sending = burst();
    const key = await held;
    const { by } = await this.#until(() => this.starts.findLast((start) => start.key === key));
    await by.end('SIGKILL');
    await sending;
  }

  /** Injects a fault into one of the replicas, at any moment within `most` milliseconds; resolves once it took effect. */
  async injectFault(fault: 'SIGKILL' | 'block', most: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.seed.below(most)));
    const apps = await this.#until(() => this.#apps.size > 0 && this.apps);
    const victim = apps[this.seed.below(apps.length)] as App;
    if (fault === 'SIGKILL') return victim.end('SIGKILL');
    const { blocks } = this;
    victim.tell({ command: 'block' });
    await this.#until(() => this.blocks > blocks);
  }

  /** Resolves once every replica is there; one that is starting needs its database. */
  async whole(): Promise<void> {
    await this.#until(() => this.#apps.size === this.settings.replicas);
  }

  /** Resolves once `count` requests were started. */
  async started(count: number): Promise<void> {
    await this.#until(() => this.starts.length >= count);
  }

  /** The replica that stopped at the armed point, if one did. */
  async frozen(): Promise<App | undefined> {
    for (const app of this.#apps) if (await app.isStopped()) return app;
    return undefined;
  }

  /** Stops every replica with SIGTERM; their outcomes are in the store then. */
  async shutDown(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.end('SIGTERM')));
  }

  /** Resolves once every batch has ended. */
  async finished(limit = 60_000): Promise<void> {
    await this.#until(() => this.idle(), limit);
  }

  async idle(): Promise<boolean> {
    // The database itself may be the target of the fault.
    const [{ open } = { open: 1 }] = (await this.store
      .query(`SELECT count(*) AS open FROM messaging_batch WHERE state < ${ENDED}`)
      .catch(() => [])) as { open: string | number }[];
    return Number(open) === 0;
  }

  async audit(): Promise<Findings & { readonly passed: readonly string[] }> {
    const { upstream, callers, store } = this;
    const book = await this.book();
    const findings = await audit(store, book, callers.accepted, await upstream.refused());
    return { ...findings, passed: await this.#orders.passed(store) };
  }

  /** The acceptances of all upstreams. */
  async book(): Promise<BookEntry[]> {
    return [...(await this.upstream.book()), ...((await this.next?.book()) ?? [])];
  }

  #add(): Promise<App> {
    const adding = this.#start();
    this.#adding.add(adding);
    void adding.then(
      () => this.#adding.delete(adding),
      () => this.#adding.delete(adding),
    );
    return adding;
  }

  async #start(): Promise<App> {
    const { replicas: _, failover: __, options, ...settings } = this.settings;
    // Without keys, a lane lost by a stall of the machine leaves unknown messages.
    const lease = settings.honoursKeys ? '2s' : '6s';
    const app = await App.start(
      this.sources.path('app.process.js'),
      {
        ...settings,
        seed: seedOf(this.seed.value, `app ${++this.#started}`),
        upstream: this.upstream.url,
        ...(this.next && { next: this.next.url }),
        options: { lease, backoff: '50ms', concurrency: 4, ...options },
      },
      (event, from) => this.#hear(event, from),
    );
    this.#apps.add(app);
    void app.ended.then((signal) => this.#ended(app, signal));
    return app;
  }

  #ended(app: App, signal: string | null): void {
    const unanswered = this.callers.unanswered(app);
    this.#orders.died(app);
    if (!this.#apps.delete(app) || signal !== 'SIGKILL' || this.#stopped) return;
    this.kills++;
    void this.#add().then((next) => {
      for (const send of unanswered) this.callers.hand(send, next);
    });
  }

  #hear(event: AppEvent, from: App): void {
    if (event.event === 'blocked') this.blocks++;
    if (event.event === 'starting')
      this.starts.push({ key: event.key, messages: event.messages, at: event.at, by: from });
    this.#orders.hear(event, from);
    this.callers.hear(event, from);
  }

  #until<T>(find: () => T | Promise<T>, limit = 60_000): Promise<Found<T>> {
    return until(find, limit, this.replay);
  }
}
