import { isStatementTaken } from './database-errors.js';

/** Runs of a statement after which plans are made anew; then after so many times as many, and so on. */
const FIRST_RENEWAL = 24;
const GROWTH = 4;

/** Milliseconds after which all plans of a connection are made anew. */
const PLANS_LAST = 600_000;

/** Milliseconds of a run that may have been the plan's fault, and for which plans are left alone after that. */
const SLOW = 100;
const AGAIN = 1_000;

/** A connection that loses its statements again within so many runs is not the server's own. */
const STEADY = 1_000;

/**
 * The plans of one connection's prepared statements. The server keeps a plan until the table's
 * statistics or columns change; one made for an empty table would read a grown one whole for as long. So
 * they are made anew as runs grow, since a table does not grow much faster; after a slow run, since
 * somebody else may have filled it; and now and then.
 */
export class ConnectionPlans {
  readonly #runs = new Map<string, { count: number; renewal: number }>();
  #madeAt = performance.now();
  #slow = false;
  #generation = 0;
  #losses = 0;
  #sinceLoss = 0;

  /** Counts a run; true: the connection's plans are to be discarded before it. */
  outdated(name: string): boolean {
    this.#sinceLoss++;
    let runs = this.#runs.get(name);
    if (!runs) this.#runs.set(name, (runs = { count: 0, renewal: FIRST_RENEWAL }));
    const age = performance.now() - this.#madeAt;
    const grown = ++runs.count >= runs.renewal;
    if (!grown && age < (this.#slow ? AGAIN : PLANS_LAST)) return false;
    this.#madeAt += age;
    this.#slow = false;
    for (const each of this.#runs.values())
      each.renewal = Math.max(FIRST_RENEWAL, each.count * GROWTH);
    return true;
  }

  /** A run took so many milliseconds. */
  took(duration: number): void {
    if (duration >= SLOW) this.#slow = true;
  }

  /** The name of the statement on this connection. */
  nameOf(name: string): string {
    return this.#generation === 0 ? name : `${name}_${this.#generation}`;
  }

  /**
   * The server knows the statement no more, after a `DISCARD ALL` or because a table was changed: they
   * are all prepared again, by other names. False: it would be so again and again.
   */
  lost(error: unknown): boolean {
    this.#losses = this.#sinceLoss < STEADY ? this.#losses + 1 : 1;
    this.#sinceLoss = 0;
    this.#generation++;
    return this.#losses < 3 && !isStatementTaken(error);
  }
}
