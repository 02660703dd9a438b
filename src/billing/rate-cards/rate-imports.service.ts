import { type Clock, type FieldError, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import { type EntityManager, IsNull, MoreThan, Not } from 'typeorm';
import { type Also, forUpdate } from '../../accounts/accounts.service.js';
import { GatewayChannels } from '../../channel.js';
import { ApiError, invalidField, invalidFields } from '../../http/api-error.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import { BillingAccount } from '../ledger/ledger.tables.js';
import { isCurrency } from '../money.js';
import { type RateChanges, rateChanges } from './rate-changes.js';
import { DEFAULT_CARD, RateCards, VARIABLES } from './rate-cards.service.js';
import { readRates } from './rate-file.js';
import type { Rate } from './rate-table.js';
import { RateCardEntity, RateVersionEntity } from './rate-cards.tables.js';

/** Accounts that a refusal names. */
const MOST_NAMED = 10;

/** Rates per statement; other work has a turn of the event loop after each. */
const MAX_ROWS = 2_000;

const CARD = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Stands for the version before the first one. */
const NONE = 'none';

export interface NewVersion {
  readonly card: string;
  readonly currency: string;
  /** @default now */
  readonly from?: Date | undefined;
  /**
   * Import the card also where accounts that use it have money in another currency: their sends are
   * refused then. @default they are named, and nothing is imported
   */
  readonly anyCurrency?: boolean | undefined;
  /**
   * The version that this one must follow, `variables` or `none`: an import after a preview names the
   * one that was compared. @default any
   */
  readonly follows?: string | undefined;
}

/** What an import would change. */
export interface PreviewedVersion extends RateChanges {
  readonly card: string;
  readonly currency: string;
  readonly from: Date;
  /** Number of its rates. */
  readonly rates: number;
  /** The version in force before, as {@link NewVersion.follows} names it. */
  readonly follows: string;
  /** A later version is there already, and starts then; `null`: none is. */
  readonly until: Date | null;
}

export interface ImportedVersion extends Required<Pick<NewVersion, 'card' | 'currency'>> {
  readonly from: Date;
  readonly id: string;
  /** Number of its rates. */
  readonly rates: number;
}

interface NewRate extends Rate {
  readonly version: string;
  readonly line: number;
}

/** Adds versions to rate cards, for operators. */
@Injectable()
export class RateImports {
  readonly #rates;

  constructor(
    private readonly messaging: MessagingService,
    private readonly queues: WorkQueues,
    private readonly registry: ChannelRegistry,
    private readonly channels: GatewayChannels,
    private readonly cards: RateCards,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {
    this.#rates = queues.database.dialect.rows<NewRate>({
      v_version: ['uuid', ({ version }) => version],
      v_line: ['int', ({ line }) => line],
      v_channel: ['key', ({ channel }) => channel],
      v_prefix: ['key', ({ prefix }) => prefix],
      v_category: ['key', ({ category }) => category],
      v_price: ['bigint', ({ amount }) => amount.toString()],
      v_billing: ['key', ({ billing }) => billing],
    });
  }

  /**
   * Stores a CSV file as a version of a card, all of it or nothing; makes the card where there is none.
   * @throws ApiError 422 naming each wrong line, or where the card has another currency
   */
  async import(csv: string, version: NewVersion, also: Also): Promise<ImportedVersion> {
    const rates = await this.#read(csv, version);
    return this.messaging.transaction(async (manager) => {
      const stored = await this.store(manager, rates, version);
      await also(manager, stored.id);
      return stored;
    });
  }

  /**
   * What an import of the file would change of the version in force when it starts; stores nothing.
   * @throws ApiError 422 as the import does
   */
  async preview(csv: string, version: NewVersion): Promise<PreviewedVersion> {
    const read = await this.#read(csv, version);
    const { card, currency, anyCurrency = false } = version;
    const from = version.from ?? new Date(this.clock.now());
    const { follows, until } = await this.messaging.transaction(async (manager) => {
      if (!anyCurrency) await this.#refuseOthers(manager, card, currency);
      const known = await manager.findOneBy(RateCardEntity, { name: card });
      if (known && known.currency !== currency) throw otherCurrency(known);
      const next = await manager.findOne(RateVersionEntity, {
        where: { card, startsAt: MoreThan(from) },
        order: { startsAt: 'ASC' },
      });
      return { follows: await this.#inForceAt(card, from, manager), until: next?.startsAt ?? null };
    });
    const before = follows === NONE ? [] : (await this.cards.version(follows)).rates.rates;
    const after = read.map(([, rate]) => rate);
    return {
      ...(await rateChanges(before, after)),
      card,
      currency,
      from,
      rates: after.length,
      follows,
      until,
    };
  }

  async #inForceAt(card: string, at: Date, manager: EntityManager): Promise<string> {
    const version = await this.cards.inForceAt(card, at.getTime(), manager);
    return version ? (version.id ?? VARIABLES) : NONE;
  }

  /** @throws ApiError 422 */
  async #read(csv: string, { card, currency, from }: NewVersion) {
    this.#check(card, currency, from);
    return readRates(csv, (name) => {
      const definition = this.registry.find(name);
      return (
        definition && {
          categories: definition.pricing?.categories ?? null,
          hasPrefixes: definition.addressKinds.includes('phone'),
          isTimed: this.channels.find(name)?.isTimed ?? false,
        }
      );
    });
  }

  /**
   * Stores rates as a version of a card, in the caller's transaction.
   * @param rates with their lines @throws ApiError 422 where the card has another currency
   */
  async store(
    manager: EntityManager,
    rates: readonly (readonly [line: number, rate: Rate])[],
    { card, currency, from, anyCurrency = false, follows }: NewVersion,
  ): Promise<ImportedVersion> {
    if (!anyCurrency) await this.#refuseOthers(manager, card, currency);
    await this.#ensureCard(manager, card, currency);
    const id = this.clock.id();
    const now = new Date(this.clock.now());
    const startsAt = from ?? now;
    if (follows !== undefined && follows !== (await this.#inForceAt(card, startsAt, manager)))
      throw invalidField(
        'follows',
        `is not the version of ${card} in force then any more: another one was imported; compare again`,
      );
    await manager.insert(RateVersionEntity, {
      id,
      card,
      startsAt,
      rates: rates.length,
      createdAt: now,
    });
    const sql = this.queues.database.join(manager);
    for (let at = 0; at < rates.length; at += MAX_ROWS) {
      const rows = rates
        .slice(at, at + MAX_ROWS)
        .map(([line, rate]) => ({ ...rate, version: id, line }));
      await sql.run(
        `INSERT INTO gateway_rate (version_id, line, channel, prefix, category, price, billing)
          SELECT ${this.#rates.names.join(', ')} FROM ${this.#rates.sql}`,
        this.#rates.bind(rows),
      );
      await turn();
    }
    return { id, card, currency, from: startsAt, rates: rates.length };
  }

  /** @throws ApiError 422 */
  #check(card: string, currency: string, from: Date | undefined): void {
    const errors: FieldError[] = [];
    if (!CARD.test(card)) {
      const message =
        'must be 1 to 64 small letters, digits, dots, dashes and underscores, such as default';
      errors.push({ path: 'card', message });
    }
    if (!isCurrency(currency))
      errors.push({ path: 'currency', message: 'must be a code of ISO 4217, such as NGN' });
    if (from && from.getTime() < this.clock.now()) {
      const message = 'is over; leave it out, and the version starts now';
      errors.push({ path: 'from', message });
    }
    if (errors.length > 0) throw invalidFields(errors);
  }

  /** @throws ApiError 422 naming accounts that use the card and have money in another currency */
  async #refuseOthers(manager: EntityManager, card: string, currency: string): Promise<void> {
    const uses = { card: card === DEFAULT_CARD ? IsNull() : card, currency: Not(currency) };
    const [found, number] = await manager.findAndCount(BillingAccount, {
      select: { accountId: true, currency: true },
      where: [
        { ...uses, mode: Not('off') },
        { ...uses, entries: Not('0') },
      ],
      order: { accountId: 'ASC' },
      take: MOST_NAMED,
    });
    if (number === 0) return;
    const named = found.map((one) => `${one.accountId} (${one.currency})`).join(', ');
    const more = number > found.length ? ` and ${number - found.length} more` : '';
    throw invalidField(
      'currency',
      `is not that of accounts that use the card ${card}, whose sends would be refused: ${named}${more}; give them another card first, or import it with --any-currency`,
    );
  }

  /** @throws ApiError 422 where the card has another currency */
  async #ensureCard(manager: EntityManager, name: string, currency: string): Promise<void> {
    const where = { name };
    const known = await manager.findOne(RateCardEntity, { where, ...forUpdate(manager) });
    if (!known)
      await manager.insert(RateCardEntity, {
        name,
        currency,
        createdAt: new Date(this.clock.now()),
      });
    else if (known.currency !== currency) throw otherCurrency(known);
  }
}

/** When a version starts: a date, which begins in UTC, or an RFC 3339 time. @throws ApiError 422 */
export function startOf(written: string): Date {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(written);
  const time = parseTimestamp(isDate ? `${written}T00:00:00Z` : written);
  if (time) return time;
  throw invalidField('from', 'must be a date such as 2027-01-01, or an RFC 3339 time');
}

function otherCurrency({ name, currency }: Pick<RateCardEntity, 'name' | 'currency'>): ApiError {
  const message = `must be ${currency}, the currency of the card ${name}; a card of another name may have another one`;
  return invalidField('currency', message);
}
