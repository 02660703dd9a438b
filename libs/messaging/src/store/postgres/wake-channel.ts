import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { timeLimit, untilAborted } from '../../message/time-limit.js';
import type { StoreDatabase } from '../database/store-database.js';
import { POSTGRES_DIALECT } from './dialect.js';

/** In milliseconds. */
interface HearingTests {
  /** In which a process hears its own test. */
  readonly within: number;
  /** Between two tests; a network may drop an idle connection silently. */
  readonly every: number;
}

const TESTS: HearingTests = { within: 10_000, every: 30_000 };

const CLOSED_WITHIN = 2_000;

/** Begins the payload of a test, which is no lane. */
const TEST = 'test ';

/** The tables of two apps in one database have channels of their own. */
const CHANNEL = `'messaging_wake_' || 'messaging_lane'::regclass::oid`;

const PAYLOADS = POSTGRES_DIALECT.rows<string>({ v_payload: ['text', (payload) => payload] });

const NOTIFY = `SELECT pg_notify(${CHANNEL}, v_payload) FROM ${PAYLOADS.sql}`;

/** As `pg` has it. */
interface Client extends EventEmitter {
  readonly connection?: { readonly stream?: { destroy(): void } };
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly Readonly<Record<string, string>>[] }>;
  end(): Promise<void>;
}

interface Pool {
  readonly Client: new (options: object) => Client;
  readonly options: object;
}

export interface Listening {
  close(): Promise<void>;
}

/** Wakes between processes by NOTIFY, which a process hears by a connection of its own. */
export class WakeChannel {
  private constructor(
    private readonly database: Pick<StoreDatabase, 'all'>,
    private readonly pool: Pool,
    private readonly tests: HearingTests,
  ) {}

  /** `undefined`: a database without NOTIFY. */
  static of(
    dataSource: DataSource,
    database: StoreDatabase,
    tests = TESTS,
  ): WakeChannel | undefined {
    const { master } = dataSource.driver as { master?: Partial<Pool> };
    if (database.dialect.kind !== 'postgres' || !master?.Client || !master.options)
      return undefined;
    return new WakeChannel(database, { Client: master.Client, options: master.options }, tests);
  }

  /** Call it after the commit: within a transaction it would let commits wait for one another. */
  async notify(payloads: readonly string[]): Promise<void> {
    await this.database.all(NOTIFY, PAYLOADS.bind(payloads));
  }

  /**
   * @param onLane called with each lane that any process wakes
   * @param onEnd called once when the connection ends by itself
   * @param signal ends the start and its first test
   * @returns `undefined` where the connection hears nothing, as behind a pooler in transaction mode
   * @throws the error of the database, or that it does not answer
   */
  async listen(
    onLane: (lane: string) => void,
    onEnd: () => void,
    signal: AbortSignal,
  ): Promise<Listening | undefined> {
    const client = new this.pool.Client(this.pool.options);
    const tests = new Map<string, () => void>();
    client.on('notification', ({ payload = '' }: { readonly payload?: string }) => {
      if (payload.startsWith(TEST)) tests.get(payload)?.();
      else onLane(payload);
    });
    const isHeard = async (): Promise<boolean> => {
      const test = `${TEST}${randomUUID()}`;
      const answer = new EventEmitter();
      tests.set(test, () => answer.emit('heard'));
      const limit = timeLimit(this.tests.within, signal);
      const heard = once(answer, 'heard', { signal: limit }).then(
        () => true,
        () => false,
      );
      let isSent = false;
      const sent = this.notify([test]).then(() => {
        isSent = true;
        return heard;
      });
      const isOwn = await Promise.race([sent, heard]).finally(() => tests.delete(test));
      // On a lost connection of the pool the statement may never end: it says nothing about this one.
      if (!isOwn && !isSent) throw new Error('the database takes no NOTIFY');
      return isOwn;
    };
    let timer: NodeJS.Timeout | undefined;
    const close = async () => {
      clearInterval(timer);
      client.removeAllListeners('end');
      await Promise.race([
        client.end().catch(() => undefined),
        wait(CLOSED_WITHIN, undefined, { ref: false }),
      ]);
      client.connection?.stream?.destroy();
    };
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      void close();
      onEnd();
    };
    client.on('error', () => undefined);
    const begin = async () => {
      await client.connect();
      const { rows } = await client.query(`SELECT ${CHANNEL} AS channel`);
      await client.query(`LISTEN ${rows[0]?.['channel'] ?? ''}`);
    };
    try {
      // A connection may carry nothing any more, without an end.
      await untilAborted(timeLimit(this.tests.within, signal), begin());
      if (!(await isHeard())) {
        // A pooler may have given the LISTEN to a session that others share.
        await untilAborted(timeLimit(CLOSED_WITHIN), client.query('UNLISTEN *'));
        await close();
        return undefined;
      }
    } catch (error) {
      await close();
      throw error;
    }
    client.on('end', end);
    timer = setInterval(() => {
      // A database that takes no statement says nothing about the connection.
      void isHeard().then(
        (heard) => heard || end(),
        () => undefined,
      );
    }, this.tests.every).unref();
    return { close };
  }
}
