import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth } from '../accounts/auth.guard.js';
import { Operation } from '../http/operation.decorator.js';
import { pageOf } from '../http/page.dto.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { ContactBook } from './contact-book.js';
import {
  Contact,
  ContactPage,
  ContactsQuery,
  Erasure,
  GivenConsent,
  UpsertContact,
} from './contacts.dto.js';

const BY_ID = 'By id or phone number.';
const NOW = 'The contact as it is now.';

/** Contacts of an account and their consent to WhatsApp messages. */
@Controller('whatsapp/ng/v1/contacts')
@ApiTags('WhatsApp')
export class ContactsController {
  constructor(private readonly contacts: ContactBook) {}

  @Post()
  @Auth('api_key', 'contacts:write')
  @Operation({
    id: 'upsertContact',
    summary: 'Make or change a contact',
    description:
      'Found by `phone` or `bsuid`. A field that is left out stays as it is; `groups` are all groups of the contact from now on. All of the request is stored or nothing.',
    answer: Contact,
    success: NOW,
  })
  upsert(
    @AccountId() tenant: string,
    @JsonBody(UpsertContact) contact: UpsertContact,
  ): Promise<Contact> {
    return this.contacts.upsert(tenant, contact);
  }

  @Get()
  @Auth('api_key', 'contacts:read')
  @Operation({
    id: 'listContacts',
    summary: 'List contacts',
    answer: ContactPage,
    success: 'A page of contacts, oldest first.',
  })
  async list(
    @AccountId() tenant: string,
    @ValidQuery(ContactsQuery) query: ContactsQuery,
  ): Promise<ContactPage> {
    return pageOf(await this.contacts.list(tenant, query), (contact) => contact);
  }

  @Get(':contactId')
  @Auth('api_key', 'contacts:read')
  @Operation({
    id: 'readContact',
    summary: 'Read a contact',
    description: BY_ID,
    answer: Contact,
    success: 'The contact.',
  })
  read(@AccountId() tenant: string, @Param('contactId') id: string): Promise<Contact> {
    return this.contacts.find(tenant, id);
  }

  @Post(':contactId/opt-in')
  @Auth('api_key', 'contacts:write')
  @Operation({
    id: 'optInContact',
    summary: 'Record the consent to WhatsApp messages',
    description: `${BY_ID} The consent with the latest \`at\` counts, in any order of the requests.`,
    answer: Contact,
    success: NOW,
  })
  optIn(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
    @JsonBody(GivenConsent, { optional: true }) consent: GivenConsent,
  ): Promise<Contact> {
    return this.contacts.consent(tenant, id, 'opted_in', consent);
  }

  @Post(':contactId/opt-out')
  @Auth('api_key', 'contacts:write')
  @Operation({
    id: 'optOutContact',
    summary: 'Record the refusal of WhatsApp messages',
    description: `${BY_ID} Messages that are not sent yet are not sent.`,
    answer: Contact,
    success: NOW,
  })
  optOut(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
    @JsonBody(GivenConsent, { optional: true }) consent: GivenConsent,
  ): Promise<Contact> {
    return this.contacts.consent(tenant, id, 'opted_out', consent);
  }

  @Delete(':contactId')
  @Auth('api_key', 'contacts:write')
  @Operation({
    id: 'eraseContact',
    summary: 'Erase a contact',
    description: `${BY_ID} Removes the person from contacts and messages; refusals and counts stay. Batches that have not ended keep the number until they end: \`remaining\` says how many, and the call can be repeated by number.`,
    answer: Erasure,
    success: 'How many messages no longer name the person, and how many batches still do.',
  })
  erase(@AccountId() tenant: string, @Param('contactId') id: string): Promise<Erasure> {
    return this.contacts.erase(tenant, id);
  }
}
