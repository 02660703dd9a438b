import { expect } from '@jest/globals';
import { relative } from 'node:path';
import type { DataSource } from 'typeorm';
import { App } from './app.js';
import type { CompiledSources } from './compiled-sources.js';
import { LaneOrders } from './order.js';
import { MailBook } from './mail-book.js';
import { seedOf } from './processes/chance.js';
import type { MailAppSettings, MailEntry } from './processes/mail-protocol.js';
import type { AppEvent, Point } from './processes/protocol.js';
import { Seed } from './seed.js';
import { until } from './until.js';

export const RECIPIENTS = 1_000;
export const CONCURRENCY = 8;
const ENDED = 5;

export interface MailRow {
  readonly position: number;
  readonly recipient: string;
  readonly status: number;
  readonly submission: string;
}

export interface KilledBatch {
  readonly id: string;
  readonly recipients: readonly string[];
  readonly rows: readonly MailRow[];
  /** Messages at the mail server, by recipient. */
  readonly copies: ReadonlyMap<string, readonly MailEntry[]>;
  /** Submissions without an outcome when a process died. */
  readonly interrupted: ReadonlySet<string>;
  /** Emails that others have passed without a documented reason. */
  readonly passed: readonly string[];
}

/** One batch of emails, and the processes that send it and are killed one after the other. */
export class MailBatch {
  readonly #seed = new Seed();
  readonly #orders = new LaneOrders();
  #app: App | undefined;
  #book: MailBook | undefined;

  constructor(
    private readonly sources: CompiledSources,
    private readonly store: DataSource,
    private readonly settings: Pick<MailAppSettings, 'database' | 'onUncertain'>,
  ) {}

  /** The command that draws the same chances again. */
  get replay(): string {
    const full = process.env['CHAOS'] === 'full' ? 'CHAOS=full ' : '';
    const path = relative(process.cwd(), expect.getState().testPath ?? '');
    return `${full}CHAOS_SEED=${this.#seed.value} npm test -- ${path}`;
  }

  async stop(): Promise<void> {
    await this.#app?.end();
    await this.#book?.stop();
  }

  /** Sends the batch, and kills the process that works on it at each of the points. */
  async killedAt(points: readonly Point[]): Promise<KilledBatch> {
    this.#seed.begin(expect.getState().currentTestName ?? '');
    process.stdout.write(`chaos: ${this.replay}\n`);
    const book = await MailBook.start(this.sources.path('mail-server.process.js'));
    this.#book = book;
    const to = Array.from({ length: RECIPIENTS }, (_, n) => `p${n}@example.org`);
    let worker = await this.#start(book);
    const interrupted = new Set<string>();
    let id = '';
    for (const point of points) {
      const rounds = 5 + this.#seed.below(RECIPIENTS / (4 * points.length) / CONCURRENCY);
      const isHeld = point === 'on-the-wire' ? book.hold(rounds * CONCURRENCY) : undefined;
      if (point !== 'on-the-wire')
        worker.app.tell({
          command: 'arm',
          point,
          nth: passagesOf(point, rounds),
          fault: 'SIGKILL',
        });
      if (id === '') {
        const { onUncertain } = this.settings;
        const send = { key: `batch-${onUncertain}`, tenant: onUncertain, to };
        worker.app.tell({ command: 'send', sends: [send] });
        id = await worker.accepted;
      }
      const isReached = async () => {
        if (await this.#isOver(id)) throw new Error(`no kill at ${point}: the batch is over`);
        return isHeld ? isHeld() : !worker.app.alive;
      };
      await until(isReached, 60_000, this.replay);
      await worker.app.end('SIGKILL');
      for (const submission of await this.#open(id)) interrupted.add(submission);
      worker = await this.#start(book);
    }
    await until(() => this.#isOver(id), 60_000, this.replay);
    await worker.app.end();
    const copies = new Map<string, MailEntry[]>();
    for (const entry of await book.entries())
      copies.set(entry.to, [...(copies.get(entry.to) ?? []), entry]);
    const passed = await this.#orders.passed(this.store);
    return { id, recipients: to, rows: await this.#rows(id), copies, interrupted, passed };
  }

  async #start(book: MailBook): Promise<{ readonly app: App; readonly accepted: Promise<string> }> {
    const said: { answer?: (event: AppEvent) => void } = {};
    const accepted = new Promise<string>((resolve, reject) => {
      said.answer = (event) => {
        if (event.event === 'accepted') resolve(event.id);
        if (event.event === 'refused') reject(new Error(event.error));
      };
    });
    const app = await App.start(
      this.sources.path('mail-app.process.js'),
      {
        ...this.settings,
        seed: seedOf(this.#seed.value, 'app'),
        relay: book.url,
        concurrency: CONCURRENCY,
      },
      (event, from) => {
        said.answer?.(event);
        this.#orders.hear(event, from);
      },
    );
    this.#app = app;
    void app.ended.then(() => this.#orders.died(app));
    return { app, accepted };
  }

  async #open(id: string): Promise<string[]> {
    const rows = (await this.store.query(
      `SELECT n FROM messaging_submission WHERE batch = '${id}' AND outcome IS NULL`,
    )) as { n: number }[];
    return rows.map(({ n }) => `${id}-s${n}`);
  }

  async #rows(id: string): Promise<MailRow[]> {
    const rows = (await this.store.query(
      `SELECT position, recipient, status, submission FROM messaging_message WHERE batch = '${id}'`,
    )) as (Omit<MailRow, 'submission'> & { submission: number })[];
    return rows.map(({ submission, status, ...row }) => ({
      ...row,
      status: Number(status),
      submission: `${id}-s${submission}`,
    }));
  }

  async #isOver(id: string): Promise<boolean> {
    const [batch] = (await this.store.query(
      `SELECT state FROM messaging_batch WHERE id = '${id}'`,
    )) as { state: number }[];
    return Number(batch?.state) >= ENDED;
  }
}

/** An intent is of many emails, an outcome of some, an answer of one. */
function passagesOf(point: Point, rounds: number): number {
  if (point.endsWith('-intent')) return 1;
  return point === 'response-read' ? rounds * CONCURRENCY : rounds;
}
