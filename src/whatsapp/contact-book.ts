import {
  type Clock,
  type Contact,
  ContactsService,
  type ErasureResult,
  GroupNotFoundError,
  isPhoneNumber,
  MESSAGING_CLOCK,
  MessageValidationError,
  MessagingService,
  type Page,
  type Person,
} from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { WhatsAppNumbers } from '../accounts/whatsapp-numbers.js';
import { ApiError, invalidFields } from '../http/api-error.js';
import { inWireFields } from '../http/error-mapping.js';
import { UNKNOWN_GROUP } from '../http/fields.js';
import { parseTimestamp } from '../http/rfc3339.js';
import {
  type Contact as ContactAnswer,
  contactOf,
  type GivenConsent,
  type UpsertContact,
} from './contacts.dto.js';

/** Filter of a list of contacts. */
export interface ContactFilter {
  readonly phone?: string;
  readonly bsuid?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/** Contacts of accounts, in the form of the WhatsApp API. */
@Injectable()
export class ContactBook {
  constructor(
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
    private readonly numbers: WhatsAppNumbers,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
  ) {}

  /** Stores the whole request or nothing. */
  async upsert(tenant: string, request: UpsertContact): Promise<ContactAnswer> {
    const { phone, bsuid, name, opt_in: optIn, groups } = request;
    const person = {
      ...(phone !== undefined && { phone }),
      ...(bsuid !== undefined && { bsuid }),
      ...(name !== undefined && { name }),
    };
    try {
      const contact = await this.messaging.transaction(async (manager) => {
        const options = { tenant, manager };
        const { bsuid: platform, ...known } = person;
        const [before] = await this.contacts.upsert(
          { ...known, ...(platform !== undefined && { platform }) },
          options,
        );
        const ids = personOf(before as Contact);
        if (optIn !== undefined) {
          const consent =
            typeof optIn === 'boolean'
              ? ({ status: optIn ? 'opted_in' : 'opted_out' } as const)
              : optIn;
          await this.#consent(consent.status, ids, consent, options);
        }
        if (groups) await this.#moveTo(groups, before as Contact, options);
        return this.contacts.get((before as Contact).id, options);
      });
      return await this.#answer(tenant, contact as Contact);
    } catch (error) {
      if (!(error instanceof MessageValidationError)) throw error;
      throw inWireFields(error, WIRE_FIELDS);
    }
  }

  /** @param id of the contact, or its phone number @throws ApiError 404 */
  async find(tenant: string, id: string): Promise<ContactAnswer> {
    return this.#answer(tenant, await this.#contact(tenant, id));
  }

  async list(
    tenant: string,
    { phone, bsuid, cursor, limit }: ContactFilter,
  ): Promise<Page<ContactAnswer>> {
    const [sender, now] = [await this.numbers.of(tenant), this.clock.now()];
    const page =
      phone === undefined && bsuid === undefined
        ? await this.contacts.list({ tenant, cursor, limit })
        : await this.#only(tenant, { phone, bsuid });
    return { ...page, data: page.data.map((one) => contactOf(one, sender, now)) };
  }

  async consent(
    tenant: string,
    id: string,
    status: 'opted_in' | 'opted_out',
    consent: GivenConsent,
  ): Promise<ContactAnswer> {
    const ids = personOf(await this.#contact(tenant, id));
    await this.#consent(status, ids, consent, { tenant });
    return this.find(tenant, id);
  }

  /** By phone number the call can be repeated, also after the contact was deleted. */
  async erase(tenant: string, id: string): Promise<ErasureResult> {
    const person = isPhoneNumber(id) ? id : personOf(await this.#contact(tenant, id));
    return this.contacts.erase(person, { tenant });
  }

  #consent(
    status: 'opted_in' | 'opted_out',
    ids: Person,
    { source = 'api', at, evidence }: GivenConsent,
    options: { readonly tenant: string; readonly manager?: EntityManager },
  ): Promise<void> {
    const consent = {
      ...options,
      channel: 'whatsapp' as const,
      source,
      ...(at !== undefined && { at: parseTimestamp(at) as Date }),
      ...(evidence !== undefined && { evidence }),
    };
    return status === 'opted_in'
      ? this.contacts.optIn(ids, consent)
      : this.contacts.optOut(ids, consent);
  }

  /** Changes groups in a fixed order to avoid deadlocks. */
  async #moveTo(
    wanted: readonly string[],
    contact: Contact,
    options: { readonly tenant: string; readonly manager: EntityManager },
  ): Promise<void> {
    const { groups } = this.contacts;
    const people = [personOf(contact)];
    for (const id of [...new Set([...wanted, ...contact.groups])].sort())
      try {
        if (!wanted.includes(id)) await groups.remove(id, people, options);
        else if (!contact.groups.includes(id)) await groups.add(id, people, options);
      } catch (error) {
        if (!(error instanceof GroupNotFoundError) || !wanted.includes(id)) throw error;
        throw invalidFields([{ path: `groups[${wanted.indexOf(id)}]`, message: UNKNOWN_GROUP }]);
      }
  }

  async #contact(tenant: string, id: string): Promise<Contact> {
    const contact =
      (await this.contacts.get(id.toLowerCase(), { tenant })) ??
      (isPhoneNumber(id) ? await this.contacts.find(id, { tenant }) : undefined);
    if (!contact) throw new ApiError('not_found', 'There is no such contact');
    return contact;
  }

  /** The contact with the given identifiers, one or both. */
  async #only(
    tenant: string,
    { phone, bsuid }: Pick<ContactFilter, 'phone' | 'bsuid'>,
  ): Promise<Page<Contact>> {
    const person = phone ?? { platform: bsuid as string };
    const found = await this.contacts.find(person, { tenant });
    const matches = found && (bsuid === undefined || found.platform === bsuid);
    return { data: matches ? [found] : [], nextCursor: null };
  }

  async #answer(tenant: string, contact: Contact): Promise<ContactAnswer> {
    return contactOf(contact, await this.numbers.of(tenant), this.clock.now());
  }
}

/** Field names of the interface: the library takes many contacts, the interface one. */
const WIRE_FIELDS = {
  'contacts[0]': 'bsuid',
  'contacts[0].phone': 'phone',
  'contacts[0].platform': 'bsuid',
  'contacts[0].name': 'name',
};

function personOf({ addresses }: Contact): Person {
  return { addresses };
}
