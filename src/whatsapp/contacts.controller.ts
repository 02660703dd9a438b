import type { ErasureResult } from '@dundun/messaging';
import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { AccountId, Auth } from '../accounts/auth.decorators.js';
import { Documented } from '../http/documented.decorator.js';
import { JsonBody, OptionalJsonBody } from '../http/json-body.decorator.js';
import { type PageAnswer, pageAnswer } from '../http/page-answer.js';
import { CURSOR, limit as limitUpTo, PHONE_NUMBER } from '../http/schema.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { ContactBook } from './contact-book.js';
import { ContactsQuery } from './whatsapp.dto.js';
import type { ContactAnswer } from './contact.view.js';
import { type GivenConsent, readConsent, readContact, type UpsertContact } from './read-contact.js';
import { WHATSAPP_EXAMPLES } from './whatsapp.examples.js';

const NOW = {
  status: 200,
  description: 'The contact as it is now.',
  schema: 'Contact',
  example: WHATSAPP_EXAMPLES.contact,
} as const;

const BY_ID = 'By id or phone number.';

/** Who an account writes to, and whether they want it. */
@Controller('whatsapp/ng/v1/contacts')
export class ContactsController {
  constructor(private readonly contacts: ContactBook) {}

  @Post()
  @HttpCode(200)
  @Auth('api_key', 'contacts:write')
  @Documented({
    operationId: 'upsertContact',
    summary: 'Make or change a contact',
    description:
      'Found by `phone` or `bsuid`. What is left out stays as it is; `groups` are all they are in from now on. All of it or nothing.',
    tag: 'WhatsApp',
    body: { schema: 'UpsertContact', examples: WHATSAPP_EXAMPLES.upsert },
    answer: NOW,
  })
  upsert(
    @AccountId() tenant: string,
    @JsonBody(readContact) contact: UpsertContact,
  ): Promise<ContactAnswer> {
    return this.contacts.upsert(tenant, contact);
  }

  @Get()
  @Auth('api_key', 'contacts:read')
  @Documented({
    operationId: 'listContacts',
    summary: 'List contacts',
    tag: 'WhatsApp',
    query: {
      phone: PHONE_NUMBER,
      bsuid: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      cursor: CURSOR,
      limit: limitUpTo(1_000, 100),
    },
    answer: {
      status: 200,
      description: 'A page of contacts, oldest first.',
      schema: 'ContactPage',
      example: WHATSAPP_EXAMPLES.contacts,
    },
  })
  async list(
    @AccountId() tenant: string,
    @ValidQuery(ContactsQuery) query: ContactsQuery,
  ): Promise<PageAnswer<ContactAnswer>> {
    return pageAnswer(await this.contacts.list(tenant, query), (contact) => contact);
  }

  @Get(':contactId')
  @Auth('api_key', 'contacts:read')
  @Documented({
    operationId: 'readContact',
    summary: 'Read a contact',
    description: BY_ID,
    tag: 'WhatsApp',
    answer: { ...NOW, description: 'The contact.' },
  })
  read(@AccountId() tenant: string, @Param('contactId') id: string): Promise<ContactAnswer> {
    return this.contacts.find(tenant, id);
  }

  @Post(':contactId/opt-in')
  @HttpCode(200)
  @Auth('api_key', 'contacts:write')
  @Documented({
    operationId: 'optInContact',
    summary: 'They want WhatsApp messages',
    description: `${BY_ID} The youngest consent counts, in whatever order they are told.`,
    tag: 'WhatsApp',
    body: { schema: 'GivenConsent', optional: true, examples: WHATSAPP_EXAMPLES.consent },
    answer: NOW,
  })
  optIn(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
    @OptionalJsonBody(readConsent) consent: GivenConsent,
  ): Promise<ContactAnswer> {
    return this.contacts.consent(tenant, id, 'opted_in', consent);
  }

  /** Nothing that has not left yet leaves. */
  @Post(':contactId/opt-out')
  @HttpCode(200)
  @Auth('api_key', 'contacts:write')
  @Documented({
    operationId: 'optOutContact',
    summary: 'They want no more WhatsApp messages',
    description: `${BY_ID} What has not left yet does not leave.`,
    tag: 'WhatsApp',
    body: { schema: 'GivenConsent', optional: true, examples: WHATSAPP_EXAMPLES.consent },
    answer: NOW,
  })
  optOut(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
    @OptionalJsonBody(readConsent) consent: GivenConsent,
  ): Promise<ContactAnswer> {
    return this.contacts.consent(tenant, id, 'opted_out', consent);
  }

  @Delete(':contactId')
  @Auth('api_key', 'contacts:write')
  @Documented({
    operationId: 'eraseContact',
    summary: 'Erase a contact',
    description: `${BY_ID} The person is forgotten, what they refused is not, and counts stay. Batches that have not ended keep the number until they have: \`remaining\` says how many, and the call is repeatable by number.`,
    tag: 'WhatsApp',
    answer: {
      status: 200,
      description: 'How many messages no longer name them, and how many batches still do.',
      schema: 'Erasure',
      example: WHATSAPP_EXAMPLES.erasure,
    },
  })
  erase(@AccountId() tenant: string, @Param('contactId') id: string): Promise<ErasureResult> {
    return this.contacts.erase(tenant, id);
  }
}
