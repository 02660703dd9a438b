import type { DataSource } from 'typeorm';
import { App } from './app.js';
import { CompiledSources } from './compiled-sources.js';
import { type Findings, audit } from './audit.js';
import type { AppEvent, AppSettings, Point, Send } from './processes/protocol.js';
import { Seed } from './seed.js';
import { Upstream } from './upstream.js';

export interface ClusterSettings extends Pick<AppSettings, 'database' | 'honoursKeys'> {
  readonly replicas: number;
  readonly options?: Partial<AppSettings['options']>;
}

export interface Start {
  readonly key: string;
  readonly messages: number;
  readonly at: number;
  readonly by: App;
}

const TABLES = ['report', 'message', 'submission', 'batch_chunk', 'batch', 'lane'];

/** Phases of a batch to which nothing more happens. */
const ENDED = 2;

/** Replicas of the app on one database, the upstream they send to, and everything they said. */
export class Cluster {
  readonly seed = new Seed();
  /** Batch by send key, as the callers were told. */
  readonly accepted = new Map<string, string>();
  /** Keys in the order in which their sends resolved. */
  readonly order: string[] = [];
  readonly starts: Start[] = [];
  readonly #apps = new Set<App>();
  readonly #waiting = new Map<string, () => void>();
  /** Sends by the process they were handed to, until it has answered. */
  readonly #handed = new Map<App, Map<string, Send>>();
  readonly #adding = new Set<Promise<App>>();
  #count = 0;
  #turn = 0;
  #stopped = false;
  kills = 0;
  /** What sends were refused with. */
  readonly refused: string[] = [];

  private constructor(
    private readonly sources: CompiledSources,
    readonly upstream: Upstream,
    private readonly settings: ClusterSettings,
    private readonly ledger: DataSource,
  ) {}

  static async start(settings: ClusterSettings, ledger: DataSource): Promise<Cluster> {
    const sources = await CompiledSources.make();
    const upstream = await Upstream.start(sources.path('test/chaos/processes/upstream.process.js'));
    await upstream.set({ honoursKeys: settings.honoursKeys });
    const cluster = new Cluster(sources, upstream, settings, ledger);
    process.stdout.write(`chaos: CHAOS_SEED=${cluster.seed.value}\n`);
    try {
      // The first one makes the tables; what an earlier cluster left in them is none of this one's.
      await cluster.#add();
      for (const table of TABLES) await ledger.query(`DELETE FROM messaging_${table}`);
      await Promise.all(Array.from({ length: settings.replicas - 1 }, () => cluster.#add()));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get apps(): readonly App[] {
    return [...this.#apps];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#adding);
    await Promise.all(this.apps.map((app) => app.end()));
    await this.upstream.stop();
    await this.sources.remove();
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
    const done = sends.map(
      ({ key }) => new Promise<void>((resolve) => this.#waiting.set(key, resolve)),
    );
    for (const send of sends) {
      const { apps } = this;
      this.#hand(send, apps[this.#turn++ % apps.length] as App);
    }
    await Promise.all(done);
  }

  /** Each one after the one before was accepted, by whichever replica: their order is known. */
  async sendInTurn(sends: readonly Send[]): Promise<void> {
    for (const send of sends) await this.send([send]);
  }

  arm(point: Point, nth: number, signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): void {
    for (const app of this.#apps) app.tell({ command: 'arm', point, nth, signal });
  }

  disarm(): void {
    for (const app of this.#apps) app.tell({ command: 'disarm' });
  }

  /** Kills whoever has just put the next request on the wire; resolves once it is dead. */
  async killOnTheWire(): Promise<void> {
    const held = new Promise<string>((resolve) => this.upstream.onHeld(resolve));
    await this.upstream.set({ hold: true });
    const key = await held;
    const { by } = await this.#until(() => this.starts.findLast((start) => start.key === key));
    await by.end('SIGKILL');
  }

  /** Resolves once `count` requests were started. */
  async started(count: number): Promise<void> {
    await this.#until(() => this.starts.length >= count);
  }

  /** Resolves with the first replica that stopped at the armed point; the others are disarmed. */
  async stopped(): Promise<App> {
    const stopped = await this.#until(async () => {
      for (const app of this.#apps) if (await app.isStopped()) return app;
      return undefined;
    });
    this.disarm();
    return stopped;
  }

  /** Stops every replica as an operator would: what it still has to say is in the ledger then. */
  async shutDown(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.end('SIGTERM')));
  }

  /** Resolves once every batch the callers were told of, and every other one, has ended. */
  async finished(limit = 60_000): Promise<void> {
    await this.#until(async () => {
      // The database itself may be what is being broken.
      const [{ open } = { open: 1 }] = (await this.ledger
        .query(`SELECT count(*) AS open FROM messaging_batch WHERE phase < ${ENDED}`)
        .catch(() => [])) as { open: string | number }[];
      return Number(open) === 0;
    }, limit);
  }

  async audit(): Promise<Findings> {
    return audit(this.ledger, await this.upstream.book(), this.accepted);
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
    const { replicas: _, options, ...settings } = this.settings;
    const app = await App.start(
      this.sources.path('test/chaos/processes/app.process.js'),
      {
        ...settings,
        upstream: this.upstream.url,
        options: { lease: '2s', backoff: '50ms', concurrency: 4, ...options },
      },
      (event, from) => this.#hear(event, from),
    );
    this.#apps.add(app);
    void app.ended.then((signal) => this.#ended(app, signal));
    return app;
  }

  #ended(app: App, signal: string | null): void {
    const unanswered = this.#handed.get(app) ?? new Map<string, Send>();
    if (!this.#apps.delete(app) || signal !== 'SIGKILL' || this.#stopped) return;
    this.kills++;
    this.#handed.delete(app);
    void this.#add().then((next) => {
      for (const send of unanswered.values()) this.#hand(send, next);
    });
  }

  #hand(send: Send, app: App): void {
    const handed = this.#handed.get(app) ?? new Map<string, Send>();
    this.#handed.set(app, handed.set(send.key, send));
    app.tell({ command: 'send', sends: [send] });
  }

  #hear(event: AppEvent, from: App): void {
    if (event.event === 'starting')
      this.starts.push({ key: event.key, messages: event.messages, at: event.at, by: from });
    if (event.event !== 'accepted' && event.event !== 'refused') return;
    this.#handed.get(from)?.delete(event.key);
    if (event.event === 'refused') this.refused.push(`${event.key}: ${event.error}`);
    else {
      this.accepted.set(event.key, event.id);
      this.order.push(event.key);
    }
    this.#waiting.get(event.key)?.();
    this.#waiting.delete(event.key);
  }

  async #until<T>(
    find: () => T | Promise<T>,
    limit = 30_000,
  ): Promise<Exclude<T, false | undefined | null>> {
    const end = Date.now() + limit;
    for (;;) {
      const found = await find();
      if (found !== undefined && found !== null && found !== false)
        return found as Exclude<T, false | undefined | null>;
      if (Date.now() > end)
        throw new Error(`not within ${limit} ms; CHAOS_SEED=${this.seed.value}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
