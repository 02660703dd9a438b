import { Logger } from '@nestjs/common';
import { type Hold, HoldIndex } from '../store/rows/hold.js';
import type { Holds } from '../store/verbs/holds.js';

/** Reason of the hold until the first read, which an unreachable database delays. */
export const NOT_READ = 'not_read';

const ALL_HELD = new HoldIndex([
  { lanes: '*', reason: NOT_READ, since: new Date(0), until: null, note: null },
]);

/** The holds on lanes, read before the dispatch starts and every second afterwards. */
export class HoldWatch {
  readonly #logger = new Logger('Holds');
  #index = ALL_HELD;
  #fails = false;
  /** The last read; `undefined`: this process sends nothing, or has not started. */
  #read: Promise<void> | undefined;

  constructor(private readonly holds: Pick<Holds, 'noticeRestore' | 'index'>) {}

  of(lane: string): Hold | undefined {
    return this.#index.of(lane);
  }

  /**
   * Reads the holds that are committed now, also while an earlier read is under way. After a failed
   * read, which is logged once, the holds stay as they were.
   */
  refresh(): Promise<void> {
    this.#read = (this.#read ?? Promise.resolve()).then(() => this.#readAll());
    return this.#read;
  }

  /** After a change of the holds by this process: nothing starts against it from now on. */
  async follow(): Promise<void> {
    if (this.#read) await this.refresh();
  }

  async #readAll(): Promise<void> {
    try {
      if (this.#index === ALL_HELD) await this.holds.noticeRestore();
      const index = await this.holds.index();
      this.#announce(index.holds);
      this.#index = index;
      this.#fails = false;
    } catch (error) {
      if (!this.#fails) this.#logger.warn(`holds not read: ${(error as Error).name}`);
      this.#fails = true;
    }
  }

  #announce(holds: readonly Hold[]): void {
    const isAll = ({ lanes }: Hold) => lanes === '*';
    const before = this.#index === ALL_HELD ? undefined : this.#index.holds.find(isAll);
    const now = holds.find(isAll);
    if (now && !before)
      this.#logger.warn(`every lane is held (${now.reason}): no message starts until its release`);
    if (before && !now) this.#logger.log('the lanes are released: messages start again');
  }
}
