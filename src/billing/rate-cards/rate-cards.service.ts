import type { Price, RateCard } from '@dundun/messaging/ports';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setImmediate as turn } from 'node:timers/promises';
import { DataSource, type EntityManager, IsNull, Not } from 'typeorm';
import { GatewayChannels } from '../../channel.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { ApiError } from '../../http/api-error.js';
import { BillingAccount } from '../ledger/ledger.tables.js';
import { amountText, readAmount } from '../money.js';
import { RateCardEntity, RateEntity, RateVersionEntity } from './rate-cards.tables.js';
import { type Rate, RateTable } from './rate-table.js';

/** The card of accounts that have no other. */
export const DEFAULT_CARD = 'default';

/** Stands for the id of the version that the variables give. */
export const VARIABLES = 'variables';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Milliseconds. */
const READ_EVERY = 1_000;

/** Rates per query; between two, other work has a turn of the event loop. */
const PAGE = 5_000;

/** A version of a card with its rates. Its rates never change. */
export interface RateVersion {
  /** `null`: the variables give its rates. */
  readonly id: string | null;
  readonly card: string;
  readonly currency: string;
  /** Epoch milliseconds; `-Infinity`: it has always been in force. */
  readonly startsAt: number;
  readonly rates: RateTable;
  /** Number of its rates. */
  readonly size: number;
}

export interface ListedVersion extends Pick<RateVersion, 'id' | 'card' | 'currency'> {
  /** `null`: it has always been in force. */
  readonly startsAt: Date | null;
  /** Number of its rates. */
  readonly rates: number;
  readonly state: 'in force' | 'later' | 'former';
}

interface VersionRow {
  readonly id: string;
  readonly card: string;
  readonly currency: string;
  readonly starts: string | number;
}

/** How an account pays. */
export type PayingTerms = Pick<BillingAccount, 'card' | 'chargeAt' | 'currency' | 'budgets'>;

/**
 * The cards in memory: their versions in force and later ones. They are read before the first message is
 * sent, and every second afterwards; the rates of a version are read once.
 */
@Injectable()
export class RateCards implements RateCard, OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger('RateCards');
  /** Prices of the variables: a version for each currency, in the order of the channels. */
  readonly #variables: readonly RateVersion[];
  #timer: NodeJS.Timeout | undefined;
  /** By card, in the order of their starts. */
  #versions: ReadonlyMap<string, readonly RateVersion[]> = new Map();
  /** Cards of accounts that have another one than {@link DEFAULT_CARD}. */
  #cards: ReadonlyMap<string, string> = new Map();
  /** Of accounts that are charged. */
  #paying: ReadonlyMap<string, PayingTerms> = new Map();

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT) environment: Environment,
    { all: channels }: GatewayChannels,
  ) {
    const rates = new Map<string, Rate[]>();
    for (const { name: channel, prices } of channels) {
      const given = prices(environment);
      if (!given) continue;
      const list = rates.get(given.currency) ?? [];
      rates.set(given.currency, list);
      for (const rate of given.rates)
        list.push({ ...rate, channel, amount: readAmount(rate.price) ?? 0n });
    }
    this.#variables = [...rates].map(([currency, list]) => ({
      id: null,
      card: DEFAULT_CARD,
      currency,
      startsAt: -Infinity,
      rates: new RateTable(list),
      size: list.length,
    }));
  }

  async onModuleInit(): Promise<void> {
    await this.#read();
    this.#timer = setTimeout(() => void this.#refresh(), READ_EVERY).unref();
  }

  /** Does not wait for a read under way: the database may not answer any more. */
  onApplicationShutdown(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Reads what has changed, at once. */
  reread(): Promise<void> {
    return this.#read();
  }

  /** The price on the card of the account; `undefined`: the card has none. */
  price({
    tenant,
    channel,
    category,
    recipient,
  }: Parameters<RateCard['price']>[0]): Price | undefined {
    const version =
      this.#importedInForce(this.cardOf(tenant)) ??
      this.#variables.find(({ rates }) => rates.hasRatesOf(channel));
    const rate = version?.rates.find(channel, category, recipient);
    if (!version || !rate) return undefined;
    const { price: amount, billing } = rate;
    return { amount, currency: version.currency, ...(billing !== null && { billing }) };
  }

  /** Whether messages of an account are charged, as it was within the last second. */
  pays(accountId: string): boolean {
    return this.#paying.has(accountId);
  }

  /** As it was within the last second; `undefined`: the account's messages are free. */
  termsOf(accountId: string): PayingTerms | undefined {
    return this.#paying.get(accountId);
  }

  /** Name of the card of an account. */
  cardOf(accountId: string): string {
    return this.#cards.get(accountId) ?? DEFAULT_CARD;
  }

  /**
   * The version of a card in force; `undefined`: there is no such card, or it starts later. Until an
   * imported version of {@link DEFAULT_CARD} starts, the variables give its rates.
   */
  inForce(card: string): RateVersion | undefined {
    const [ofVariables] = card === DEFAULT_CARD ? this.#variables : [];
    return this.#importedInForce(card) ?? ofVariables;
  }

  /** The versions of a card that price messages now and later, in the order of their starts. */
  present(card: string): readonly RateVersion[] {
    const inForce = this.#importedInForce(card);
    const ofVariables = card === DEFAULT_CARD && !inForce ? this.#variables : [];
    const now = Date.now();
    const later = (this.#versions.get(card) ?? []).filter(({ startsAt }) => startsAt > now);
    return [...ofVariables, ...(inForce ? [inForce] : []), ...later];
  }

  /** Any version, also a former one. @param id {@link VARIABLES}: the variables @throws ApiError 404 */
  async version(id: string): Promise<RateVersion> {
    const known =
      id === VARIABLES
        ? this.#variables[0]
        : [...this.#versions.values()].flat().find((one) => one.id === id);
    if (known) return known;
    const row = UUID.test(id)
      ? await this.#rows().where('version.id = :id', { id }).getRawOne<VersionRow>()
      : undefined;
    if (!row)
      throw new ApiError('not_found', `There is no version ${id}; dundun rates list has all`);
    return this.#load(row);
  }

  /** The version of a card that is in force at a time, as the database has it; `undefined`: none is. */
  async inForceAt(
    card: string,
    at: number,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<Pick<RateVersion, 'id' | 'startsAt'> | undefined> {
    const row = await this.#rows(manager)
      .where('version.card = :card AND version.starts_at <= :at', { card, at })
      .orderBy('version.starts_at', 'DESC')
      .addOrderBy('version.id', 'DESC')
      .limit(1)
      .getRawOne<VersionRow>();
    if (row) return { id: row.id, startsAt: Number(row.starts) };
    return card === DEFAULT_CARD ? this.#variables[0] : undefined;
  }

  /** Currency of a card, also of one that starts later; `undefined`: there is no such card. */
  currencyOf(card: string): string | undefined {
    const [imported] = this.#versions.get(card) ?? [];
    const [ofVariables] = card === DEFAULT_CARD ? this.#variables : [];
    return (imported ?? ofVariables)?.currency;
  }

  /** Every version of every card, also former ones, by card and start. */
  async list(): Promise<readonly ListedVersion[]> {
    const { manager } = this.dataSource;
    const cards = await manager.find(RateCardEntity);
    const currencies = new Map(cards.map(({ name, currency }) => [name, currency]));
    const found = await manager.find(RateVersionEntity, {
      order: { card: 'ASC', startsAt: 'ASC', id: 'ASC' },
    });
    const now = Date.now();
    const started = found.filter(({ startsAt }) => startsAt.getTime() <= now);
    // By card, the last of those that have started.
    const inForce = new Map(started.map(({ card, id }) => [card, id]));
    const imported = found.map(({ id, card, startsAt, rates }): ListedVersion => {
      const isLater = startsAt.getTime() > now;
      const state = inForce.get(card) === id ? 'in force' : isLater ? 'later' : 'former';
      return { id, card, currency: currencies.get(card) ?? '', startsAt, rates, state };
    });
    const [ofVariables] = this.#variables;
    if (!ofVariables) return imported;
    const { id, card, currency, size: rates } = ofVariables;
    const state = inForce.has(DEFAULT_CARD) ? 'former' : 'in force';
    return [{ id, card, currency, startsAt: null, rates, state }, ...imported];
  }

  #importedInForce(card: string): RateVersion | undefined {
    const now = Date.now();
    return this.#versions.get(card)?.findLast(({ startsAt }) => startsAt <= now);
  }

  async #refresh(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#logger.warn({ message: 'rate cards not read', err: error });
    }
    this.#timer?.refresh();
  }

  async #read(): Promise<void> {
    const { manager } = this.dataSource;
    const now = Date.now();
    const known = new Map([...this.#versions.values()].flat().map((one) => [one.id, one]));
    const rows = await this.#rows()
      .orderBy('version.card')
      .addOrderBy('version.starts_at')
      .addOrderBy('version.id')
      .getRawMany<VersionRow>();
    const versions = new Map<string, RateVersion[]>();
    for (const [place, row] of rows.entries()) {
      const next = rows[place + 1];
      // The next one is in force already.
      if (next?.card === row.card && Number(next.starts) <= now) continue;
      const version = known.get(row.id) ?? (await this.#load(row));
      versions.set(row.card, [...(versions.get(row.card) ?? []), version]);
    }
    const accounts = await manager.find(BillingAccount, {
      select: {
        accountId: true,
        budgets: true,
        card: true,
        chargeAt: true,
        currency: true,
        mode: true,
      },
      where: [{ card: Not(IsNull()) }, { mode: Not('off') }],
    });
    this.#versions = versions;
    this.#cards = new Map(accounts.map(({ accountId, card }) => [accountId, card ?? DEFAULT_CARD]));
    this.#paying = new Map(
      accounts.flatMap(({ accountId, mode, ...terms }): [string, PayingTerms][] =>
        mode === 'off' ? [] : [[accountId, terms]],
      ),
    );
  }

  #rows(manager = this.dataSource.manager) {
    return manager
      .createQueryBuilder(RateVersionEntity, 'version')
      .innerJoin(RateCardEntity, 'card', 'card.name = version.card')
      .select('version.id', 'id')
      .addSelect('version.card', 'card')
      .addSelect('version.starts_at', 'starts')
      .addSelect('card.currency', 'currency');
  }

  async #load({ id, card, currency, starts }: VersionRow): Promise<RateVersion> {
    const rates: Rate[] = [];
    for (let last = 0; ;) {
      const rows = await this.dataSource.manager
        .createQueryBuilder(RateEntity, 'rate')
        .select(['line', 'channel', 'prefix', 'category', 'price', 'billing'])
        .where('rate.version_id = :id AND rate.line > :last', { id, last })
        .orderBy('rate.line')
        .limit(PAGE)
        .getRawMany<Omit<Rate, 'price' | 'amount'> & { line: number; price: string | number }>();
      for (const { line, price, ...row } of rows) {
        const amount = BigInt(price);
        rates.push({ ...row, amount, price: amountText(amount) });
        last = line;
      }
      if (rows.length < PAGE) break;
      await turn();
    }
    return {
      id,
      card,
      currency,
      startsAt: Number(starts),
      rates: new RateTable(rates),
      size: rates.length,
    };
  }
}
