import {
  type Clock,
  type ConsentState,
  type Contact as StoredContact,
  type ContactOptions,
  ContactsService,
  GroupNotFoundError,
  MESSAGING_CLOCK,
  MessagingService,
} from '@dundun/messaging';
import { isPhoneNumber } from '@dundun/messaging/values';
import { Controller, Delete, Get, Inject, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth } from '../../accounts/auth.guard.js';
import { ApiError, invalidFields } from '../../http/api-error.js';
import { inWireFields } from '../../http/error-mapping.js';
import { Operation } from '../../http/operation.decorator.js';
import { pageOf } from '../../http/page.dto.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import { AccountSenders } from '../../senders/account-senders.js';
import {
  Contact,
  contactOf,
  ContactPage,
  ContactsQuery,
  Erasure,
  GivenConsent,
  type GivenOptIn,
  UNKNOWN_GROUP,
  UpsertContact,
} from './contacts.dto.js';

const BY_ID = 'By id or phone number.';
const NOW = 'The contact as it is now.';

/** Field names of the interface: the library takes many contacts, the interface one. */
const WIRE_FIELDS = {
  'contacts[0]': 'bsuid',
  'contacts[0].phone': 'phone',
  'contacts[0].platform': 'bsuid',
  'contacts[0].name': 'name',
};

@Controller('whatsapp/ng/v1/contacts')
@ApiTags('WhatsApp')
export class ContactsController {
  constructor(
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
    private readonly senders: AccountSenders,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @Auth('api_key', 'contacts:write')
  @Operation('Make or change a contact', {
    description:
      'Found by `phone` or `bsuid`. A field that is left out stays as it is; `groups` are all groups of the contact from now on. All of the request is stored or nothing.',
    answer: Contact,
    success: NOW,
  })
  async upsertContact(
    @AccountId() tenant: string,
    @JsonBody(UpsertContact) { phone, bsuid, name, opt_in: optIn, groups }: UpsertContact,
  ): Promise<Contact> {
    const contact = await this.messaging
      .transaction(async (manager) => {
        const options = { tenant, manager };
        const given = { phone, platform: bsuid, name };
        const [known] = (await this.contacts.upsert(given, options)) as [StoredContact];
        const consent: GivenOptIn | undefined =
          typeof optIn === 'boolean' ? { status: optIn ? 'opted_in' : 'opted_out' } : optIn;
        if (consent) await this.#record(consent.status, known, consent, options);
        if (groups) await this.#moveTo(groups, known, options);
        return this.contacts.get(known.id, options);
      })
      .catch((error: unknown) => {
        throw inWireFields(error, WIRE_FIELDS);
      });
    return (await this.#answers(tenant))(contact as StoredContact);
  }

  @Get()
  @Auth('api_key', 'contacts:read')
  @Operation('List contacts', {
    description: 'All contacts of the account, or the one with a number or bsuid.',
    answer: ContactPage,
    success: 'A page of contacts, oldest first.',
  })
  async listContacts(
    @AccountId() tenant: string,
    @ValidQuery(ContactsQuery) { phone, bsuid, cursor, limit }: ContactsQuery,
  ): Promise<ContactPage> {
    const answerOf = await this.#answers(tenant);
    if (phone === undefined && bsuid === undefined)
      return pageOf(await this.contacts.list({ tenant, cursor, limit }), answerOf);
    const found = await this.contacts.find(phone ?? { platform: bsuid }, { tenant });
    const matches = found && (bsuid === undefined || found.platform === bsuid);
    return { data: matches ? [answerOf(found)] : [], next_cursor: null };
  }

  @Get(':contactId')
  @Auth('api_key', 'contacts:read')
  @Operation('Read a contact', { description: BY_ID, answer: Contact, success: 'The contact.' })
  async readContact(@AccountId() tenant: string, @Param('contactId') id: string): Promise<Contact> {
    return (await this.#answers(tenant))(await this.#find(tenant, id));
  }

  @Post(':contactId/opt-in')
  @Auth('api_key', 'contacts:write')
  @Operation('Record the consent to WhatsApp messages', {
    description: `${BY_ID} The consent with the latest \`at\` counts, in any order of the requests.`,
    answer: Contact,
    success: NOW,
  })
  async optInContact(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
    @JsonBody(GivenConsent, { optional: true }) consent: GivenConsent,
  ): Promise<Contact> {
    await this.#record('opted_in', await this.#find(tenant, id), consent, { tenant });
    return this.readContact(tenant, id);
  }

  @Post(':contactId/opt-out')
  @Auth('api_key', 'contacts:write')
  @Operation('Record the refusal of WhatsApp messages', {
    description: `${BY_ID} Messages that are not sent yet are not sent.`,
    answer: Contact,
    success: NOW,
  })
  async optOutContact(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
    @JsonBody(GivenConsent, { optional: true }) consent: GivenConsent,
  ): Promise<Contact> {
    await this.#record('opted_out', await this.#find(tenant, id), consent, { tenant });
    return this.readContact(tenant, id);
  }

  @Delete(':contactId')
  @Auth('api_key', 'contacts:write')
  @Operation('Erase a contact', {
    description: `${BY_ID} Removes the person from contacts, messages and callbacks, with the content that was sent to this person alone; counts stay, and refusals as keyed digests. Queued messages are cancelled. A message in flight keeps the number until it ends: \`remaining\` counts such batches. The call can be repeated by number.`,
    answer: Erasure,
    success: 'How many messages no longer name the person, and how many batches still do for now.',
  })
  async eraseContact(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
  ): Promise<Erasure> {
    // By number the call can be repeated, also after the contact was deleted.
    const person = isPhoneNumber(id) ? id : personOf(await this.#find(tenant, id));
    return this.contacts.erase(person, { tenant });
  }

  #record(
    state: ConsentState,
    contact: StoredContact,
    { source = 'api', at, evidence }: GivenConsent,
    options: ContactOptions,
  ): Promise<void> {
    const consent = { ...options, channel: 'whatsapp', source, at: parseTimestamp(at), evidence };
    const person = personOf(contact);
    return state === 'opted_in'
      ? this.contacts.optIn(person, consent)
      : this.contacts.optOut(person, consent);
  }

  /** Changes groups in a fixed order to avoid deadlocks. */
  async #moveTo(
    wanted: readonly string[],
    contact: StoredContact,
    options: ContactOptions,
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

  /** @param id of the contact, or its phone number @throws ApiError 404 */
  async #find(tenant: string, id: string): Promise<StoredContact> {
    const contact =
      (await this.contacts.get(id.toLowerCase(), { tenant })) ??
      (isPhoneNumber(id) ? await this.contacts.find(id, { tenant }) : undefined);
    if (!contact) throw new ApiError('not_found', 'There is no such contact');
    return contact;
  }

  async #answers(tenant: string): Promise<(contact: StoredContact) => Contact> {
    const [sender, now] = [await this.senders.firstOf(tenant, 'whatsapp'), this.clock.now()];
    return (contact) => contactOf(contact, sender, now);
  }
}

function personOf({ addresses }: StoredContact) {
  return { addresses };
}
