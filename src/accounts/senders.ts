import { isPhoneNumber } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { invalidField } from '../http/api-error.js';
import { Sender, WhatsAppNumber } from './accounts.tables.js';
import { type Fresh, RowCache, whenKnown } from './row-cache.js';

export const SENDER_ID = /^(?=.*[A-Za-z])[0-9A-Za-z](?:[0-9A-Za-z ]{0,9}[0-9A-Za-z])?$/;

export const SENDER_ID_RULE =
  'must be 1 to 11 letters, digits and inner spaces with at least one letter, such as ACME';

export function isSenderId(value: unknown): value is string {
  return typeof value === 'string' && SENDER_ID.test(value);
}

@Injectable()
export class SenderRegistry {
  readonly #senders: RowCache<Sender>;

  constructor(@InjectDataSource() private readonly source: DataSource) {
    this.#senders = new RowCache(source, Sender, ['accountId', 'sender']);
  }

  /** The first approved sender ID by name. */
  async firstOf(accountId: string): Promise<string | undefined> {
    const [first] = await this.source.manager.find(Sender, {
      where: { accountId, state: 'approved' },
      order: { sender: 'ASC' },
      take: 1,
    });
    return first?.sender;
  }

  /** Whether the account may send from it: a sender ID that waits for approval does not count. */
  isRegistered(accountId: string, sender: string): Fresh<boolean> {
    return whenKnown(
      this.#senders.find({ accountId, sender }),
      (found) => found?.state === 'approved',
    );
  }

  forget(): void {
    this.#senders.clear();
  }
}

/** Finds a verified domain of an account; email provides it. */
export abstract class AccountDomains {
  /** The first one by name. */
  abstract firstOf(accountId: string): Promise<string | undefined>;
}

/** Finds a caller id of an account; voice provides it. */
export abstract class AccountCallers {
  /** The first one by number. */
  abstract firstOf(accountId: string): Promise<string | undefined>;
}

@Injectable()
export class WhatsAppNumbers {
  readonly #oldest: RowCache<WhatsAppNumber>;
  readonly #numbers: RowCache<WhatsAppNumber>;

  constructor(@InjectDataSource() source: DataSource) {
    const order = { createdAt: 'ASC', number: 'ASC' } as const;
    this.#oldest = new RowCache(source, WhatsAppNumber, ['accountId'], order);
    this.#numbers = new RowCache(source, WhatsAppNumber, ['number']);
  }

  /** The account's oldest number. */
  async of(accountId: string): Promise<string | undefined> {
    return (await this.#oldest.find({ accountId }))?.number;
  }

  /** Meta's id of the number; `undefined`: the number is not bound to Meta. */
  async phoneNumberIdOf(number: string): Promise<string | undefined> {
    return (await this.#numbers.find({ number }))?.phoneNumberId ?? undefined;
  }

  async ownerOf(number: string): Promise<string | undefined> {
    return (await this.#numbers.find({ number }))?.accountId;
  }

  forget(): void {
    this.#oldest.clear();
    this.#numbers.clear();
  }
}

export interface MetaNumber {
  readonly phoneNumberId?: string | undefined;
  /** Its business account. */
  readonly waba?: string | undefined;
}

const META_ID = /^\d{5,32}$/;
const META_ID_RULE = 'must be the id that Meta shows, only digits';

/** Adds a WhatsApp number, or binds a known one to Meta. @throws ApiError 422 */
export async function putNumber(
  manager: EntityManager,
  accountId: string,
  number: string,
  { phoneNumberId, waba }: MetaNumber = {},
): Promise<void> {
  if (!isPhoneNumber(number))
    throw invalidField('number', 'must be 7 to 15 digits with country code');
  const known = await manager.findOneBy(WhatsAppNumber, { number });
  if (known && known.accountId !== accountId)
    throw invalidField('number', 'belongs to another account');
  if (!known) await manager.insert(WhatsAppNumber, { number, accountId, createdAt: new Date() });
  if (phoneNumberId === undefined && waba === undefined) return;
  for (const [field, id] of Object.entries({ 'phone-number-id': phoneNumberId, waba }))
    if (!META_ID.test(id ?? '')) throw invalidField(field, META_ID_RULE);
  const other = await manager.findOneBy(WhatsAppNumber, { phoneNumberId: phoneNumberId ?? '' });
  if (other && other.number !== number)
    throw invalidField('phone-number-id', 'belongs to another number');
  const bound = {
    phoneNumberId: phoneNumberId ?? '',
    waba: waba ?? '',
    templatesDueAt: new Date(),
  };
  await manager.update(WhatsAppNumber, { number }, bound);
}
