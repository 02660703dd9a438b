import { type Clock, MESSAGING_CLOCK, MessagingService, type Page } from '@dundun/messaging';
import {
  dueTask,
  type DueWork,
  type LaneTask,
  type LeasedLane,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, In, LessThanOrEqual, MoreThan } from 'typeorm';
import { type AccountEvent, AccountEvents } from '../../../accounts/account-events.js';
import { type Also, forUpdate, lockAccount } from '../../../accounts/accounts.service.js';
import { ENVIRONMENT } from '../../../config/environment.js';
import { ApiError, invalidField } from '../../../http/api-error.js';
import type { PageQuery } from '../../../http/page.dto.js';
import { afterCheck, DomainLookup, unverify } from './domain-check.js';
import { DomainKeys } from './domain-keys.js';
import {
  domainName,
  type DomainRecord,
  type MailSettings,
  recordKey,
  recordsOf,
} from './domain-records.js';
import { EmailDomain, EmailDomainKey, type RecordCheck } from './domains.tables.js';
import { SenderDomains } from './sender-domains.js';

/** Verified for the demo account, without DNS: the top-level domain `test` is for this. */
export const DEMO_DOMAIN = 'demo.test';

const MOST_DOMAINS = 1_000;

/** Most checks that a process runs at once. */
const MOST_CHECKS = 100;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A domain with its records, and their state in DNS. */
export interface DomainView extends Pick<EmailDomain, 'id' | 'name' | 'status' | 'verifiedAt'> {
  readonly records: readonly (DomainRecord & { readonly check: RecordCheck | undefined })[];
}

/** The domains that accounts send email from. */
@Injectable()
export class DomainsService {
  readonly #checking = new Map<string, Promise<DomainView>>();

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
    private readonly keys: DomainKeys,
    private readonly lookup: DomainLookup,
    private readonly senders: SenderDomains,
    private readonly events: AccountEvents,
    @Inject(ENVIRONMENT) private readonly settings: MailSettings,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /** @throws ApiError 422 for a wrong name, one that the account has, or one domain too many */
  async add(accountId: string, written: string, also?: Also): Promise<DomainView> {
    const name = domainName(written);
    const id = this.clock.id();
    await this.messaging.transaction((manager) => this.#checkNew(manager, accountId, name));
    const keys = await this.keys.make(id, 'current');
    const now = new Date(this.clock.now());
    const domain = Object.assign(new EmailDomain(), {
      id,
      accountId,
      name,
      status: 'pending',
      createdAt: now,
      checks: {},
      checkDueAt: now,
    });
    await this.messaging.transaction(async (manager) => {
      await this.#checkNew(manager, accountId, name);
      await manager.insert(EmailDomain, domain);
      await manager.insert(EmailDomainKey, keys);
      await also?.(manager, id);
    });
    return this.#viewOf(domain, keys);
  }

  /** Its only key is an Ed25519 key: an RSA key takes as long as the rest of a first start. */
  async addDemo(manager: EntityManager, accountId: string): Promise<void> {
    const id = this.clock.id();
    const now = new Date(this.clock.now());
    await manager.insert(EmailDomain, {
      id,
      accountId,
      name: DEMO_DOMAIN,
      status: 'verified',
      verifiedName: DEMO_DOMAIN,
      verifiedAt: now,
      createdAt: now,
      checks: {},
    });
    await manager.insert(EmailDomainKey, await this.keys.makeEd25519(id, 'current'));
  }

  /** Oldest first. @throws ApiError 422 on `cursor` */
  async list(accountId: string, { cursor, limit }: PageQuery): Promise<Page<DomainView>> {
    if (cursor !== undefined && !UUID.test(cursor))
      throw invalidField('cursor', 'must be the next_cursor of the page before');
    const { manager } = this.dataSource;
    const found = await manager.find(EmailDomain, {
      where: { accountId, ...(cursor !== undefined && { id: MoreThan(cursor) }) },
      order: { id: 'ASC' },
      take: limit + 1,
    });
    const domains = found.slice(0, limit);
    const ids = domains.map(({ id }) => id);
    const keys = await manager.findBy(EmailDomainKey, { domainId: In(ids) });
    return {
      data: domains.map((domain) =>
        this.#viewOf(
          domain,
          keys.filter(({ domainId }) => domainId === domain.id),
        ),
      ),
      nextCursor: found.length > limit ? (domains.at(-1)?.id ?? null) : null,
    };
  }

  /** @throws ApiError 404 */
  async get(accountId: string, id: string): Promise<DomainView> {
    return this.#read(this.dataSource.manager, await this.#find(accountId, id));
  }

  /** By id or name. @throws ApiError 404 */
  async idOf(accountId: string, domain: string): Promise<string> {
    const where = UUID.test(domain) ? { id: domain } : { name: domainName(domain) };
    const found = await this.dataSource.manager.findOneBy(EmailDomain, { accountId, ...where });
    return (found ?? notFound(domain)).id;
  }

  /** Mail that is not sent yet is refused from then on. @throws ApiError 404 */
  async remove(accountId: string, id: string, also?: Also): Promise<void> {
    await this.#find(accountId, id);
    await this.messaging.transaction(async (manager) => {
      await this.#lock(manager, id);
      await manager.delete(EmailDomainKey, { domainId: id });
      await manager.delete(EmailDomain, { id, accountId });
      await also?.(manager);
    });
    this.senders.forget();
  }

  /** Asks DNS, and returns the domain as it then is. @throws ApiError 404, 503 */
  async verify(accountId: string, id: string, also?: Also): Promise<DomainView> {
    await this.#find(accountId, id);
    if (this.#checking.size >= MOST_CHECKS && !this.#checking.has(id))
      throw new ApiError('unavailable', 'Many domains are checked at the moment; try again', {
        headers: { 'retry-after': '5' },
      });
    if (also) await this.messaging.transaction((manager) => also(manager));
    return this.check(id);
  }

  /**
   * New keys. A verified domain signs with its present ones until the record of the new RSA key is
   * found; while it is not, a further rotation changes nothing. @throws ApiError 404, 503
   */
  async rotate(accountId: string, id: string, also?: Also): Promise<DomainView> {
    const { keys } = await this.#load(this.dataSource.manager, await this.#find(accountId, id));
    if (!keys.some(({ state }) => state === 'next')) {
      const made = await this.keys.make(id, 'next');
      await this.messaging.transaction(async (manager) => {
        const domain = await this.#lock(manager, id);
        const isVerified = domain.status === 'verified';
        const isDone = await manager.existsBy(EmailDomainKey, { domainId: id, state: 'next' });
        if (isDone) return;
        if (!isVerified) await manager.delete(EmailDomainKey, { domainId: id });
        for (const key of made) key.state = isVerified ? 'next' : 'current';
        await manager.insert(EmailDomainKey, made);
        await also?.(manager);
        if (domain.name !== DEMO_DOMAIN)
          await manager.update(EmailDomain, { id }, { checkDueAt: new Date(this.clock.now()) });
      });
    }
    return this.get(accountId, id);
  }

  /** Ids and times of domains whose check is due by then, the first ones. */
  due(until: number, most: number): Promise<Pick<EmailDomain, 'id' | 'checkDueAt'>[]> {
    return this.dataSource.manager.find(EmailDomain, {
      select: { id: true, checkDueAt: true },
      where: { checkDueAt: LessThanOrEqual(new Date(until)) },
      order: { checkDueAt: 'ASC' },
      take: most,
    });
  }

  async dueAt(id: string): Promise<number | undefined> {
    const domain = await this.dataSource.manager.findOneBy(EmailDomain, { id });
    return domain?.checkDueAt?.getTime();
  }

  /** Checks of one domain at the same time share the answer. @throws ApiError 404 */
  check(id: string): Promise<DomainView> {
    const known = this.#checking.get(id);
    if (known) return known;
    const check = this.#check(id).finally(() => this.#checking.delete(id));
    this.#checking.set(id, check);
    return check;
  }

  async #check(id: string): Promise<DomainView> {
    const { manager: reader } = this.dataSource;
    const { domain, keys } = await this.#load(reader, await reader.findOneBy(EmailDomain, { id }));
    if (domain.name === DEMO_DOMAIN && domain.status === 'verified')
      return this.#viewOf(domain, keys);
    const checks = await this.lookup.check(recordsOf(domain.name, keys, this.settings));
    const view = await this.messaging.transaction(async (manager) => {
      // All accounts with the name, in one order, so that two verifications do not block each other.
      const all = await manager.find(EmailDomain, {
        where: { name: domain.name },
        order: { id: 'ASC' },
        ...forUpdate(manager),
      });
      const { domain: own, keys: current } = await this.#load(
        manager,
        all.find((one) => one.id === id) ?? null,
      );
      const now = this.clock.now();
      const wasVerified = own.status === 'verified';
      const { changed, removed } = afterCheck(own, current, { checks, now }, this.settings);
      const told: AccountEvent[] = [];
      const others = all.filter((one) => one.id !== id && one.verifiedName !== null);
      if (own.status === 'verified')
        for (const other of others) {
          unverify(other);
          await manager.save(other);
          told.push(eventOf(other, 'verified_elsewhere', now));
        }
      await manager.save(own);
      await manager.save(changed);
      await manager.remove(removed);
      if (wasVerified !== (own.status === 'verified'))
        told.push(eventOf(own, wasVerified ? 'records_changed' : null, now));
      await this.events.record(told, manager);
      return this.#viewOf(
        own,
        current.filter((key) => !removed.includes(key)),
      );
    });
    this.senders.forget();
    return view;
  }

  async #checkNew(manager: EntityManager, accountId: string, name: string): Promise<void> {
    await lockAccount(manager, accountId);
    if (await manager.existsBy(EmailDomain, { accountId, name }))
      throw invalidField('name', 'is a domain of this account already');
    if ((await manager.countBy(EmailDomain, { accountId })) >= MOST_DOMAINS)
      throw invalidField(
        'name',
        `is one too many: an account has at most ${MOST_DOMAINS} domains; delete one first`,
      );
  }

  async #find(accountId: string, id: string): Promise<EmailDomain> {
    const found = UUID.test(id)
      ? await this.dataSource.manager.findOneBy(EmailDomain, { id, accountId })
      : null;
    return found ?? notFound(id);
  }

  async #lock(manager: EntityManager, id: string): Promise<EmailDomain> {
    const found = await manager.findOne(EmailDomain, { where: { id }, ...forUpdate(manager) });
    return found ?? notFound(id);
  }

  async #load(manager: EntityManager, found: EmailDomain | null) {
    const domain = found ?? notFound();
    return { domain, keys: await manager.findBy(EmailDomainKey, { domainId: domain.id }) };
  }

  async #read(manager: EntityManager, found: EmailDomain): Promise<DomainView> {
    const { domain, keys } = await this.#load(manager, found);
    return this.#viewOf(domain, keys);
  }

  #viewOf({ checks, ...domain }: EmailDomain, keys: readonly EmailDomainKey[]): DomainView {
    const { id, name, status, verifiedAt } = domain;
    const records = recordsOf(name, keys, this.settings).map((record) => {
      return { ...record, check: checks[recordKey(record)] };
    });
    return { id, name, status, verifiedAt, records };
  }
}

function eventOf(domain: EmailDomain, errorCode: string | null, now: number): AccountEvent {
  const { id, accountId, name, status } = domain;
  return {
    account: accountId,
    subject: id,
    type: `email.domain_${status}`,
    data: {
      domain_id: id,
      name,
      status,
      error_code: errorCode,
      changed_at: new Date(now).toISOString(),
    },
  };
}

function notFound(id = ''): never {
  throw new ApiError('not_found', `There is no domain ${id.slice(0, 64)}`.trimEnd());
}

/** Most domains in one look for due ones. */
const MOST_DUE = 100;

/** Checks domains again when they are due: each domain is a lane, so one process does it. */
@Injectable()
export class DomainChecks implements WorkQueue, OnModuleInit {
  readonly name = 'email-domain';

  constructor(
    private readonly queues: WorkQueues,
    private readonly domains: DomainsService,
    private readonly lookup: DomainLookup,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  onModuleInit(): void {
    this.queues.add(this);
  }

  async due(horizon: number): Promise<readonly DueWork[]> {
    const now = this.clock.now();
    const due = await this.domains.due(now + horizon, MOST_DUE);
    return due.flatMap(({ id, checkDueAt }) =>
      checkDueAt ? [{ key: id, dueIn: checkDueAt.getTime() - now }] : [],
    );
  }

  start(leased: LeasedLane, id: string): LaneTask {
    return {
      ...dueTask(leased, {
        underWay: 'a check of its records',
        dueIn: async () => ((await this.domains.dueAt(id)) ?? Infinity) - this.clock.now(),
        run: () => this.domains.check(id),
      }),
      abort: () => this.lookup.cancel(),
    };
  }
}
