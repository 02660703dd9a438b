import { Injectable } from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { InjectDataSource } from '@nestjs/typeorm';
import type { ServerResponse } from 'node:http';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ApiError } from '../http/api-error.js';
import type { HttpReply, HttpRequest } from '../http/http-message.js';

/** Connections of a pool whose data source sets no number. */
const STANDARD_POOL = 10;

/** Most reads of a line that wait, and for how long, in milliseconds. */
const MOST_WAITING = 1_000;
const LONGEST_WAIT = 10_000;

/** Longest rest between two reads, in milliseconds. */
const LONGEST_REST = 50;

const READS = new Set(['GET', 'HEAD']);

/** Most files of inbound messages that an account fetches at once; each reads the database once. */
const MOST_FILES = 4;

/** An export, or a file, is read while its answer is sent, as slowly as the client takes it. */
export type ReadKind = 'read' | 'export' | 'file';

/** Reads of one kind of one account. */
interface Line {
  running: number;
  /** Starts of the reads that wait, in their order. */
  readonly waiting: Set<() => void>;
}

/**
 * Gives each account a share of the connections to the database: its reads use at most half of the
 * pool at once, a part of it for exports, and the others wait in their order. A read uses one
 * connection at a time. Without it, many readers of one account would delay the sends of all others.
 */
@Injectable()
export class AccountReads {
  readonly #most: Readonly<Record<ReadKind, number>>;
  readonly #lines = new Map<string, Line>();
  /** Of requests whose handlers run: what their answer does. */
  readonly #answered = new WeakMap<ServerResponse, () => void>();

  constructor(@InjectDataSource() source: Pick<DataSource, 'options'>) {
    // An export that takes minutes leaves a turn to reads, on SQLite too.
    const half = Math.max(2, Math.floor(poolOf(source.options) / 2));
    const exports = Math.floor(half / 2);
    this.#most = { read: half - exports, export: exports, file: MOST_FILES };
  }

  /**
   * Waits for the turn of a request that reads, and ends it with the answer; other requests go on at
   * once. @throws ApiError 429 where too many wait, or where it waited too long
   */
  async admit(
    account: string,
    { method }: HttpRequest,
    { raw }: HttpReply,
    kind: ReadKind = 'read',
  ): Promise<void> {
    if (!READS.has(method)) return;
    const end = await this.#turn(account, kind, raw);
    // A handler whose client is gone still reads.
    this.#answered.set(raw, () => {
      if (kind === 'read' || raw.closed) end();
      else raw.once('close', end);
    });
  }

  /** The handler of a request has ended. */
  answered({ raw }: HttpReply): void {
    this.#answered.get(raw)?.();
    this.#answered.delete(raw);
  }

  /** Runs a read that belongs to no HTTP request. @throws ApiError 429 */
  async during<T>(account: string, work: () => Promise<T>): Promise<T> {
    const end = await this.#turn(account, 'read');
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** @returns the end of the turn, for one call */
  #turn(account: string, kind: ReadKind, client?: ServerResponse): Promise<() => void> {
    if (client?.closed) return Promise.reject(gone());
    const key = `${kind} ${account}`;
    const line = this.#lines.get(key) ?? { running: 0, waiting: new Set() };
    this.#lines.set(key, line);
    if (line.running < this.#most[kind]) {
      line.running++;
      return Promise.resolve(this.#endOf(key, line));
    }
    if (line.waiting.size >= MOST_WAITING) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        line.waiting.delete(start);
        clearTimeout(timer);
        client?.off('close', abandon);
      };
      const start = (): void => {
        leave();
        resolve(this.#endOf(key, line));
      };
      const refuse = (error: ApiError): void => {
        leave();
        reject(error);
      };
      const abandon = (): void => refuse(gone());
      const timer = setTimeout(() => refuse(tooMany()), LONGEST_WAIT).unref();
      client?.once('close', abandon);
      line.waiting.add(start);
    });
  }

  #endOf(key: string, line: Line): () => void {
    const began = performance.now();
    const handOn = (): void => {
      const [next] = line.waiting;
      if (next) return next();
      line.running--;
      if (line.running === 0) this.#lines.delete(key);
    };
    // All that wait would run in one turn of the event loop, or one in each, in which libuv accepts one
    // connection. So others get as much time as the read took.
    return () => {
      const took = line.waiting.size > 0 ? performance.now() - began : 0;
      if (took < 1) setImmediate(handOn);
      else setTimeout(handOn, Math.min(took, LONGEST_REST));
    };
  }
}

/** Ends the turns of reads once they are answered. Call it before Nest registers its routes. */
export function endReads(adapter: FastifyAdapter, reads: AccountReads): void {
  adapter.getInstance().addHook('onRoute', (route) => {
    // A send has no hook that it does not need.
    if (![route.method].flat().some((method) => READS.has(method))) return;
    route.onSend = [route.onSend ?? []].flat();
    route.onSend.push((_request, reply, _payload, done) => {
      reads.answered(reply);
      done();
    });
  });
}

/** Most connections of the pool; 1 on SQLite. */
function poolOf(options: DataSourceOptions): number {
  return options.type === 'better-sqlite3' ? 1 : (options.poolSize ?? STANDARD_POOL);
}

function tooMany(): ApiError {
  return new ApiError(
    'rate_limited',
    'Too many reads of this account at once; wait for those under way',
  );
}

function gone(): ApiError {
  return new ApiError('malformed_request', 'The client disconnected');
}
