import { createHash } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { ConnectionPlans } from './connection-plans.js';
import { isStatementLost } from './database-errors.js';

interface Connection {
  query(statement: unknown, ...rest: unknown[]): Promise<unknown>;
}

/** Statements a connection keeps at most; one takes the server some 100 kB. */
const MOST = 64;

/** A statement is kept from this run on, so that those made up for once are not. */
const OFTEN = 10;

/** Texts whose runs are counted. */
const COUNTED = 1_000;

/**
 * The store's statements that PostgreSQL need not plan each time. The driver prepares what has a name;
 * TypeORM gives none, so a runner of the store's own is handed a connection that names them. A name is
 * made of the text alone: behind a pooler it may be met on another's connection, where it is the same
 * statement. What keeps statements from being kept, such as a pooler, ends it: they go unnamed.
 */
export class PreparedStatements {
  readonly #runs = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #connections = new WeakMap<Connection, ConnectionPlans>();
  #given = true;

  /** A statement of the store's is about to run. */
  count(text: string): void {
    if (!this.#given || this.#names.size >= MOST || this.#names.has(text)) return;
    const runs = (this.#runs.get(text) ?? 0) + 1;
    if (runs >= OFTEN) {
      this.#runs.delete(text);
      this.#names.set(
        text,
        `dundun_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`,
      );
      return;
    }
    if (this.#runs.size >= COUNTED) this.#runs.clear();
    this.#runs.set(text, runs);
  }

  /** From here on the runner, which must be the store's own, runs by name what has one. */
  async attach(runner: QueryRunner): Promise<void> {
    if (!this.#given) return;
    const connection = (await runner.connect()) as Connection;
    const query = (statement: unknown, ...rest: unknown[]) => {
      const name = typeof statement === 'string' ? this.#names.get(statement) : undefined;
      return name === undefined || !this.#given
        ? connection.query(statement, ...rest)
        : this.#run(runner, connection, { name, text: statement as string, values: rest[0] });
    };
    const naming = new Proxy(connection, {
      get: (target, key) => (key === 'query' ? query : (Reflect.get(target, key) as unknown)),
    });
    runner.connect = () => Promise.resolve(naming);
  }

  async #run(
    runner: QueryRunner,
    connection: Connection,
    { name, text, values }: { name: string; text: string; values: unknown },
  ): Promise<unknown> {
    const plans = this.#plansOf(connection);
    if (plans.outdated(name)) await runner.query('DISCARD PLANS');
    const begun = performance.now();
    try {
      const result = await connection.query({ name: plans.nameOf(name), text, values });
      plans.took(performance.now() - begun);
      return result;
    } catch (error) {
      if (!isStatementLost(error)) throw error;
      if (!plans.lost(error)) this.#given = false;
      // It did not run. A transaction is aborted by that, and has to be made again.
      if (runner.isTransactionActive) throw error;
      return connection.query(text, values);
    }
  }

  #plansOf(connection: Connection): ConnectionPlans {
    let plans = this.#connections.get(connection);
    if (!plans) this.#connections.set(connection, (plans = new ConnectionPlans()));
    return plans;
  }
}
