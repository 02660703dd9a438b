import {
  type Contact,
  ContactsService,
  MessageValidationError,
  MessagingService,
  readAddress,
} from '@dundun/messaging';
import { Controller, Delete, Get, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth, type AuthenticatedRequest } from '../../../accounts/auth.guard.js';
import { ApiError } from '../../../http/api-error.js';
import { Operation } from '../../../http/operation.decorator.js';
import { pageOf } from '../../../http/page.dto.js';
import { JsonBody, ValidQuery } from '../../../http/request.decorators.js';
import { parseTimestamp } from '../../../http/rfc3339.js';
import {
  EmailContact,
  emailContactOf,
  EmailContactPage,
  EmailContactsQuery,
  EmailErasure,
  UpsertEmailContact,
} from './contacts.dto.js';

const BY_ID = 'By id or e-mail address.';

/** The account's one contact book, as the email product shows it. */
@Controller('email/ng/v1/contacts')
@ApiTags('Email')
export class EmailContactsController {
  constructor(
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
  ) {}

  @Post()
  @Auth('api_key', 'contacts:write')
  @Operation('Make or change a contact of the account', {
    description:
      'Found by its addresses. A field that is left out stays as it is. All of the request is stored or nothing.',
    answer: EmailContact,
    success: 'The contact as it is now.',
  })
  async upsertEmailContact(
    @AccountId() tenant: string,
    @JsonBody(UpsertEmailContact) request: UpsertEmailContact,
    @Req() incoming: AuthenticatedRequest,
  ): Promise<EmailContact> {
    const { email, phone, platform_id: platform, name, consents = [] } = request;
    const contact = await this.messaging
      .transaction(async (manager) => {
        const options = { tenant, manager };
        const given = {
          ...(email !== undefined && { email }),
          ...(phone !== undefined && { phone }),
          ...(platform !== undefined && { platform }),
          ...(name !== undefined && { name }),
        };
        const [known] = (await this.contacts.upsert(given, options)) as [Contact];
        for (const [index, consent] of consents.entries()) {
          const { status, channel, category, source = 'api', at, evidence } = consent;
          const entry = { ...options, channel, category, source, at: parseTimestamp(at), evidence };
          const person = { addresses: known.addresses };
          await (
            status === 'opted_in'
              ? this.contacts.optIn(person, entry)
              : this.contacts.optOut(person, entry)
          ).catch((error: unknown) => {
            throw below(`consents[${index}].`, error);
          });
        }
        return this.contacts.get(known.id, options);
      })
      .catch((error: unknown) => {
        throw inWire(error);
      });
    return emailContactOf(contact as Contact, mayReadAll(incoming));
  }

  @Get()
  @Auth('api_key', 'email:read')
  @Operation('List contacts of the account', {
    description:
      'Oldest first. A key without the scope `contacts:read` sees names and e-mail addresses alone.',
    answer: EmailContactPage,
    success: 'A page of contacts.',
  })
  async listEmailContacts(
    @AccountId() tenant: string,
    @ValidQuery(EmailContactsQuery) { email, cursor, limit }: EmailContactsQuery,
    @Req() incoming: AuthenticatedRequest,
  ): Promise<EmailContactPage> {
    const answerOf = (contact: Contact) => emailContactOf(contact, mayReadAll(incoming));
    if (email === undefined)
      return pageOf(
        await this.contacts.list({ tenant, limit, ...(cursor !== undefined && { cursor }) }),
        answerOf,
      );
    const found = await this.contacts.find({ email }, { tenant });
    return { data: found ? [answerOf(found)] : [], next_cursor: null };
  }

  @Get(':contactId')
  @Auth('api_key', 'email:read')
  @Operation('Read a contact of the account', {
    description: BY_ID,
    answer: EmailContact,
    success: 'The contact.',
  })
  async readEmailContact(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
    @Req() incoming: AuthenticatedRequest,
  ): Promise<EmailContact> {
    return emailContactOf(await this.#find(tenant, id), mayReadAll(incoming));
  }

  @Delete(':contactId')
  @Auth('api_key', 'contacts:write')
  @Operation('Erase a contact of the account', {
    description: `${BY_ID} As the erasure of \`/whatsapp/ng/v1/contacts\`; it can be repeated by address.`,
    answer: EmailErasure,
    success: 'How many messages no longer name the person, and how many emails still do for now.',
  })
  async eraseEmailContact(
    @AccountId() tenant: string,
    @Param('contactId') id: string,
  ): Promise<EmailErasure> {
    const address = readAddress(id, ['email']);
    const person = address ?? { addresses: (await this.#find(tenant, id)).addresses };
    return this.contacts.erase(person, { tenant });
  }

  /** @param id of the contact, or its e-mail address @throws ApiError 404 */
  async #find(tenant: string, id: string): Promise<Contact> {
    const address = readAddress(id, ['email']);
    const contact = address
      ? await this.contacts.find(address, { tenant })
      : await this.contacts.get(id.toLowerCase(), { tenant });
    if (!contact) throw new ApiError('not_found', 'There is no such contact');
    return contact;
  }
}

function mayReadAll({ account }: AuthenticatedRequest): boolean {
  return account?.scopes.includes('contacts:read') ?? false;
}

function below(prefix: string, error: unknown): unknown {
  if (!(error instanceof MessageValidationError)) return error;
  const fields = error.fields.map(({ path, message }) => ({ path: prefix + path, message }));
  return new MessageValidationError(fields, error.code);
}

const OF_PERSON = /^contacts\[0\]\.?/;

/** The library takes many contacts, the interface one. */
function inWire(error: unknown): unknown {
  if (!(error instanceof MessageValidationError)) return error;
  const fields = error.fields.map(({ path, message }) => {
    const field = path.replace(OF_PERSON, '');
    return { path: field === 'platform' ? 'platform_id' : field || 'email', message };
  });
  return new MessageValidationError(fields, error.code);
}
