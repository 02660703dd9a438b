import { type Clock, type FieldError, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import { type EntityManager, IsNull, Not } from 'typeorm';
import { type Also, forUpdate } from '../../accounts/accounts.service.js';
import { GatewayChannels } from '../../channel.js';
import { ApiError, invalidField, invalidFields } from '../../http/api-error.js';
import { BillingAccount } from '../ledger/ledger.tables.js';
import { isCurrency } from '../money.js';
import { DEFAULT_CARD } from './rate-cards.service.js';
import { readRates } from './rate-file.js';
import type { Rate } from './rate-table.js';
import { RateCardEntity, RateVersionEntity } from './rate-cards.tables.js';

/** Accounts that a refusal names. */
const MOST_NAMED = 10;

/** Rates per statement. */
const MAX_ROWS = 2_000;

const CARD = /^[a-z0-9][a-z0-9._-]{0,63}$/;

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
}

export interface ImportedVersion extends Required<Omit<NewVersion, 'anyCurrency'>> {
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
  async import(
    csv: string,
    { card, currency, from, anyCurrency }: NewVersion,
    also: Also,
  ): Promise<ImportedVersion> {
    this.#check(card, currency, from);
    const rates = readRates(csv, (name) => {
      const definition = this.registry.find(name);
      return (
        definition && {
          categories: definition.pricing?.categories ?? null,
          hasPrefixes: definition.addressKinds.includes('phone'),
          isTimed: this.channels.find(name)?.isTimed ?? false,
        }
      );
    });
    return this.messaging.transaction(async (manager) => {
      const version = await this.store(manager, rates, {
        card,
        currency,
        from,
        anyCurrency,
      });
      await also(manager, version.id);
      return version;
    });
  }

  /**
   * Stores rates as a version of a card, in the caller's transaction.
   * @param rates with their lines @throws ApiError 422 where the card has another currency
   */
  async store(
    manager: EntityManager,
    rates: readonly (readonly [line: number, rate: Rate])[],
    { card, currency, from, anyCurrency = false }: NewVersion,
  ): Promise<ImportedVersion> {
    if (!anyCurrency) await this.#refuseOthers(manager, card, currency);
    await this.#ensureCard(manager, card, currency);
    const id = this.clock.id();
    const now = new Date(this.clock.now());
    const startsAt = from ?? now;
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

function otherCurrency({ name, currency }: Pick<RateCardEntity, 'name' | 'currency'>): ApiError {
  const message = `must be ${currency}, the currency of the card ${name}; a card of another name may have another one`;
  return invalidField('currency', message);
}
