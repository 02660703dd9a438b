import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Resolver } from 'node:dns/promises';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { type DomainRecord, recordKey, statusOf } from './domain-records.js';
import type { RecordCheck } from './domains.tables.js';

/** Limit for one question to one server, in milliseconds; the second try takes twice as long. */
const TIMEOUT = 1_500;

/** The domain, or the record, does not exist. */
const ABSENT = new Set(['ENODATA', 'ENOTFOUND']);

/** A record longer than this is shown without its end. */
const MOST_SHOWN = 1_000;

/** Asks DNS for the records of domains. */
@Injectable()
export class DomainLookup implements OnApplicationShutdown {
  readonly #resolver = new Resolver({ timeout: TIMEOUT, tries: 2 });

  constructor(
    @Inject(ENVIRONMENT) { EMAIL_DNS_SERVERS: servers }: Pick<Environment, 'EMAIL_DNS_SERVERS'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {
    if (servers) this.#resolver.setServers(servers);
  }

  onApplicationShutdown(): void {
    this.cancel();
  }

  /** Ends the questions under way: their records are unreachable. */
  cancel(): void {
    this.#resolver.cancel();
  }

  /** By {@link recordKey}; a server that fails or does not answer makes a record unreachable. */
  async check(records: readonly DomainRecord[]): Promise<Record<string, RecordCheck>> {
    const checks = records.map(async (record) => {
      const found = await this.#find(record);
      const checkedAt = new Date(this.clock.now()).toISOString();
      const check: RecordCheck = found
        ? { status: statusOf(record, found), found: shown(found), checkedAt }
        : { status: 'unreachable', found: null, checkedAt };
      return [recordKey(record), check] as const;
    });
    return Object.fromEntries(await Promise.all(checks));
  }

  /** The TXT records of a name, each in pieces. @throws Error of `node:dns` */
  textsOf(name: string): Promise<string[][]> {
    return this.#resolver.resolveTxt(name);
  }

  /** `undefined`: not known. */
  async #find({ type, name }: DomainRecord): Promise<string[] | undefined> {
    try {
      return await this.#ask(type, name);
    } catch (error) {
      return ABSENT.has(String((error as { code?: unknown }).code)) ? [] : undefined;
    }
  }

  async #ask(type: DomainRecord['type'], name: string): Promise<string[]> {
    switch (type) {
      case 'TXT':
        return (await this.textsOf(name)).map((pieces) => pieces.join(''));
      case 'CNAME':
        return this.#resolver.resolveCname(name);
      case 'MX':
        return (await this.#resolver.resolveMx(name))
          .toSorted((a, b) => a.priority - b.priority)
          .map(({ priority, exchange }) => `${priority} ${exchange}`);
    }
  }
}

function shown(found: readonly string[]): string | null {
  if (found.length === 0) return null;
  return found
    .join(', ')
    .slice(0, MOST_SHOWN)
    .replaceAll(/[^\x20-\x7e]/g, '?');
}
