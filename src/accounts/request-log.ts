import { type Clock, MESSAGING_CLOCK, MessagingService, type Page } from '@dundun/messaging';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In, LessThan, LessThanOrEqual, MoreThanOrEqual } from 'typeorm';
import { invalidField } from '../http/api-error.js';
import type { LoggedRequest } from '../http/http-message.js';
import type { PageQuery } from '../http/page.dto.js';
import { Credential } from './accounts.tables.js';
import { PREFIX } from './credentials.js';
import { RequestLogEntity } from './request-log.tables.js';

const HOUR = 3_600_000;

/** How long a row is kept, in milliseconds. */
export const REQUESTS_KEPT = 30 * 24 * HOUR;

/** Milliseconds between two writes. */
const WRITE_EVERY = 10_000;

/** Rows of a credential in one write, of accepted and of refused requests each. */
const SAMPLE = 20;

/** Rows of a credential in an hour, after which each write has one of accepted and one of refused requests. */
const HOURLY = 1_000;

/** Rows in one write, over all credentials of the process. */
const MOST = 1_000;

/** Rows that one statement deletes. */
const SLICE = 1_000;

type Entry = Omit<RequestLogEntity, 'weight'>;

interface Sample {
  readonly kept: Entry[];
  total: number;
}

/**
 * Keeps requests of accounts in memory, and writes them in one statement six times a minute. Of a busy credential
 * it keeps a random sample, in which each row says how many requests it stands for; refused requests have a sample
 * of their own, so that a flood of accepted ones does not hide them.
 */
@Injectable()
export class RequestLog implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Requests');
  #samples = new Map<string, Sample>();
  #kept = 0;
  /** Rows of this hour by credential. */
  #hourly = { since: 0, rows: new Map<string, number>() };
  #purgedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly messaging: MessagingService,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.#tick(), WRITE_EVERY).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  /** @param request answered, with its credential */
  note(request: LoggedRequest, status: number, latency: number): void {
    const { credential, method, routeOptions, errorCode, id: requestId } = request;
    if (!credential) return;
    const name = `${credential.id}${status < 400 ? '' : ' refused'}`;
    let sample = this.#samples.get(name);
    if (!sample) {
      if (this.#kept >= MOST) return;
      this.#samples.set(name, (sample = { kept: [], total: 0 }));
    }
    sample.total++;
    const place = this.#placeIn(sample, credential.id);
    if (place === undefined) return;
    sample.kept[place] = {
      id: this.clock.id(),
      accountId: credential.accountId,
      credentialId: credential.id,
      method,
      route: (routeOptions.url ?? '').slice(0, 255),
      status,
      errorCode: status < 400 ? null : errorCode,
      latency: Math.round(latency),
      requestId,
    };
  }

  /** Reservoir sampling: each request of the time has the same chance. */
  #placeIn({ kept, total }: Sample, credential: string): number | undefined {
    const most = (this.#hourly.rows.get(credential) ?? 0) < HOURLY ? SAMPLE : 1;
    if (kept.length < most) {
      if (this.#kept >= MOST) return undefined;
      this.#kept++;
      return kept.length;
    }
    const place = Math.floor(Math.random() * total);
    return place < kept.length ? place : undefined;
  }

  /** Never rejects: rows that cannot be written are lost, so that memory stays bounded. */
  async write(): Promise<void> {
    const samples = [...this.#samples.values()];
    this.#samples = new Map();
    this.#kept = 0;
    const rows = samples.flatMap(({ kept, total }) =>
      kept.map((entry) => ({ ...entry, weight: Math.round(total / kept.length) })),
    );
    if (rows.length === 0) return;
    this.#count(rows);
    try {
      await this.messaging.transaction((manager) =>
        manager
          .createQueryBuilder()
          .insert()
          .into(RequestLogEntity)
          .values(rows)
          // Without a read of what was written.
          .updateEntity(false)
          .execute(),
      );
    } catch (error) {
      this.#logger.warn({ message: 'requests are not logged', rows: rows.length, err: error });
    }
  }

  #count(rows: readonly Entry[]): void {
    const now = this.clock.now();
    if (now - this.#hourly.since >= HOUR) this.#hourly = { since: now, rows: new Map() };
    const { rows: counts } = this.#hourly;
    for (const { credentialId } of rows)
      counts.set(credentialId, (counts.get(credentialId) ?? 0) + 1);
  }

  async #tick(): Promise<void> {
    await this.write();
    const now = this.clock.now();
    if (this.#purgedAt !== undefined && now - this.#purgedAt < HOUR) return;
    this.#purgedAt = now;
    await this.purge().catch((error: unknown) => {
      this.#logger.warn({ message: 'old requests are not deleted', err: error });
    });
  }

  /** Deletes rows that are older than {@link REQUESTS_KEPT}. */
  async purge(): Promise<void> {
    const before = firstIdAt(this.clock.now() - REQUESTS_KEPT);
    for (;;) {
      const { manager } = this.dataSource;
      const old = await manager.find(RequestLogEntity, {
        select: { id: true },
        where: { id: LessThan(before) },
        order: { id: 'ASC' },
        take: SLICE,
      });
      const last = old.at(-1);
      if (!last) return;
      await this.messaging.transaction((tx) =>
        tx.delete(RequestLogEntity, { id: LessThanOrEqual(last.id) }),
      );
      if (old.length < SLICE) return;
    }
  }
}

/** Notes each answer to a request with a credential. */
export function logRequests(adapter: FastifyAdapter, log: RequestLog): void {
  adapter.getInstance().addHook('onResponse', (request, reply, done) => {
    log.note(request as unknown as LoggedRequest, reply.statusCode, reply.elapsedTime);
    done();
  });
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface RequestFilter extends PageQuery {
  /** Of one credential. */
  readonly credential?: string | undefined;
  /** Answered with an error. */
  readonly refused?: boolean | undefined;
}

export interface LoggedRequestView extends Omit<RequestLogEntity, 'id' | 'accountId'> {
  readonly at: Date;
}

/** Reads the log of an account. */
@Injectable()
export class RequestLogReader {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Newest first. @throws ApiError 422 on `cursor` */
  async list(
    accountId: string,
    { credential, refused, cursor, limit }: RequestFilter,
  ): Promise<Page<LoggedRequestView>> {
    if (cursor !== undefined && !UUID.test(cursor))
      throw invalidField('cursor', 'must be the next_cursor of the page before');
    const found = await this.dataSource.manager.find(RequestLogEntity, {
      where: {
        accountId,
        ...(credential !== undefined && { credentialId: credential }),
        ...(refused && { status: MoreThanOrEqual(400) }),
        ...(cursor !== undefined && { id: LessThan(cursor) }),
      },
      order: { id: 'DESC' },
      take: limit + 1,
    });
    const data = found.slice(0, limit).map(viewOf);
    const nextCursor = found.length > limit ? (found[limit - 1]?.id ?? null) : null;
    return { data, nextCursor };
  }

  /** How pages name the credentials, such as `tok_…rqdW`, by their ids. */
  async namesOf(requests: readonly LoggedRequestView[]): Promise<ReadonlyMap<string, string>> {
    const ids = [...new Set(requests.map(({ credentialId }) => credentialId))];
    const found = await this.dataSource.manager.find(Credential, {
      select: { id: true, kind: true, lastFour: true },
      where: { id: In(ids) },
    });
    return new Map(found.map(({ id, kind, lastFour }) => [id, `${PREFIX[kind]}…${lastFour}`]));
  }
}

function viewOf(row: RequestLogEntity): LoggedRequestView {
  const { id, credentialId, method, route, status, errorCode, latency, requestId, weight } = row;
  const at = new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
  return { at, credentialId, method, route, status, errorCode, latency, requestId, weight };
}

/** The lowest UUIDv7 of a time. */
function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
