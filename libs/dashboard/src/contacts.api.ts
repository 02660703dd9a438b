import type { Contact, SuppressionEntry } from '@dundun/messaging';
import { addressKey, readAddress } from '@dundun/messaging';
import { InboundMediaError, mediaHeaders } from '@dundun/messaging/inbound';
import { Inject, Injectable } from '@nestjs/common';
import type {
  ContactDetail,
  ContactItem,
  ConversationAnswer,
  ConversationEntry,
  ImportAnswer,
  ListAnswer,
} from './api.js';
import { type ApiCall, StreamAnswer } from './api-call.js';
import { fileError, unknownId } from './dashboard.error.js';
import { masked, maskedName, outlineOf, receivedOutlineOf, textOf } from './masking.js';
import { MessagingParts } from './messaging-parts.js';
import { Fields, type Given, iso } from './query.js';

const WINDOW = 86_400_000;
const CONTACT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOST_ERRORS = 100;
const SLICE = 65_536;

@Injectable()
export class ContactsApi {
  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  async list(call: ApiCall, query: Given): Promise<ListAnswer<ContactItem>> {
    const fields = new Fields(query);
    const tenant = call.tenantOf(fields.text('tenant', 255));
    const q = fields.text('q');
    const cursor = fields.text('cursor', 600);
    const limit = fields.limit();
    const address = q === undefined || CONTACT_ID.test(q) ? undefined : readAddress(q);
    if (q !== undefined && !CONTACT_ID.test(q) && !address)
      fields.refuse(
        'q',
        'must be a whole phone number with country code, an e-mail address, platform:id, or the id of a contact',
      );
    fields.done();
    const { contacts, history } = this.parts;
    if (q !== undefined) {
      const found = address
        ? await contacts.find(address, { tenant })
        : await history.contact(q, { tenants: [tenant] });
      return { data: found ? [itemOf(found, false)] : [], nextCursor: null };
    }
    const page = await contacts.list({ tenant, limit, ...(cursor !== undefined && { cursor }) });
    return { ...page, data: page.data.map((contact) => itemOf(contact, false)) };
  }

  /** Whole with `reveal=true`, which is audited. */
  async detail(call: ApiCall, id: string, query: Given): Promise<ContactDetail> {
    const contact = await this.#read(call, id);
    const whole = await this.#revealed(call, contact, query);
    const { tenant, addresses } = contact;
    const { contacts } = this.parts;
    const [first] = addresses;
    const history = first ? await contacts.consentHistory(first, { tenant }) : [];
    const suppressions: SuppressionEntry[] = [];
    for (const address of addresses)
      suppressions.push(...(await contacts.suppressions({ tenant, address, limit: 100 })).data);
    return {
      ...itemOf(contact, whole),
      history: history.toReversed().map(({ at, channel, category, state, source, evidence }) => ({
        at: iso(at),
        channel,
        category,
        state,
        source,
        evidence: whole ? evidence : null,
      })),
      windows: Object.entries(contact.lastInbound)
        .toSorted(([, one], [, other]) => other.getTime() - one.getTime())
        .map(([sender, at]) => ({
          sender,
          lastInboundAt: iso(at),
          windowEndsAt: iso(new Date(at.getTime() + WINDOW)),
        })),
      suppressions: suppressions.map(({ channel, category, reason, at, messageId }) => {
        return { channel, category, reason, at: iso(at), messageId };
      }),
    };
  }

  /** Both directions, newest last; texts with `reveal=true`, which is audited. */
  async conversation(call: ApiCall, id: string, query: Given): Promise<ConversationAnswer> {
    const fields = new Fields(query);
    const limit = fields.limit();
    const cursor = fields.text('cursor', 600);
    fields.done();
    const contact = await this.#read(call, id);
    const { history } = this.parts;
    const page = await history.conversation(contact, { limit, cursor });
    const whole = await this.#revealed(call, contact, query);
    const contents = await history.contents(
      page.data.flatMap((entry) => (entry.direction === 'out' ? [entry.message.id] : [])),
    );
    const inbound = await history.inboundContents(
      page.data.flatMap((entry) => (entry.direction === 'in' ? [entry.message] : [])),
    );
    const entries = page.data.map((entry): ConversationEntry => {
      if (entry.direction === 'in') {
        const { id: own, channel, to, receivedAt, kind, text } = entry.message;
        return {
          id: own,
          direction: 'in',
          channel,
          sender: to,
          at: iso(receivedAt),
          status: null,
          text: whole ? text : null,
          content: outlineOf({ kind, ...(text !== null && { text }) }),
          received: receivedOutlineOf(entry.message, inbound.get(own), whole),
        };
      }
      const { id: own, channel, sender, acceptedAt, status } = entry.message;
      const content = contents.get(own) ?? null;
      return {
        id: own,
        direction: 'out',
        channel,
        sender,
        at: iso(acceptedAt),
        status,
        text: whole ? textOf(content) : null,
        content: outlineOf(content),
        received: null,
      };
    });
    // The page is by arrival; within it a message that arrived late stands where it was sent.
    const data = entries
      .toReversed()
      .toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
    return { data, nextCursor: page.nextCursor };
  }

  /** Fetches a file of an inbound message from its provider, which is audited. */
  async media(call: ApiCall, id: string, query: Given): Promise<StreamAnswer> {
    call.require('reveal');
    const fields = new Fields(query);
    const message = fields.need('message', 36);
    const file = fields.text('file', 1) ?? '0';
    if (!/^\d$/.test(file)) fields.refuse('file', 'must be the number of a file, 0 for the first');
    fields.done();
    const { tenant } = await this.#read(call, id);
    const { contactId } = await this.parts.inbound.message(message, { tenant });
    if (contactId !== id) throw unknownId('message');
    await call.audit({ action: 'contact.file_downloaded', tenant, subject: message });
    const media = await this.parts.inbound
      .media(message, { tenant, file: Number(file) })
      .catch((error: unknown) => {
        throw error instanceof InboundMediaError ? fileError(error) : error;
      });
    return new StreamAnswer(media.stream, mediaHeaders(media));
  }

  async importAll(call: ApiCall, body: unknown): Promise<ImportAnswer> {
    call.require('act');
    const fields = new Fields(body);
    const tenant = call.tenantOf(fields.text('tenant', 255));
    const csv = fields.need('csv', 10_000_000);
    fields.done();
    await call.audit({ action: 'contacts.imported', tenant, subject: null });
    const { imported, errors } = await this.parts.contacts.importCsv(slicesOf(csv), { tenant });
    return { imported, errors: errors.slice(0, MOST_ERRORS) };
  }

  async export(call: ApiCall, query: Given): Promise<StreamAnswer> {
    call.require('reveal');
    const fields = new Fields(query);
    const tenant = call.tenantOf(fields.text('tenant', 255));
    fields.done();
    await call.audit({ action: 'contacts.exported', tenant, subject: null });
    return new StreamAnswer(this.parts.contacts.exportCsv({ tenant }), {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="contacts.csv"',
    });
  }

  async #read(call: ApiCall, id: string): Promise<Contact> {
    const contact = await this.parts.history.contact(id, { tenants: call.access.tenants });
    if (!contact) throw unknownId('contact');
    return contact;
  }

  async #revealed(call: ApiCall, { tenant, id }: Contact, query: Given): Promise<boolean> {
    if (!new Fields(query).flag('reveal')) return false;
    call.require('reveal');
    await call.audit({ action: 'contact.revealed', tenant, subject: id });
    return true;
  }
}

/** Pieces that are parsed one by one: other work has turns between them. */
async function* slicesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += SLICE) yield bytes.subarray(from, from + SLICE);
}

function itemOf(contact: Contact, whole: boolean): ContactItem {
  const { id, tenant, name, addresses, createdAt, consents, groups } = contact;
  return {
    id,
    tenant,
    name: whole ? name : maskedName(name),
    addresses: addresses.map((address) => ({
      kind: address.kind,
      value: whole ? addressKey(address) : masked(addressKey(address)),
    })),
    createdAt: iso(createdAt),
    consents: Object.fromEntries(
      Object.entries(consents).map(([scope, { state, at, source }]) => [
        scope,
        { state, at: iso(at), source },
      ]),
    ),
    groups,
  };
}
