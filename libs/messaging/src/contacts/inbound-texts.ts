import { Inject, Injectable } from '@nestjs/common';
import { type InboundContent, storedContent } from '../message/content/inbound-content.js';
import type { InboundRecord, InboundText, Tenants } from '../message/views.js';
import { LAST_ID } from '../store/reads/newest-batches.js';
import { ContactStore } from './contact-store.js';
import { decoded, type Row } from './contact-tables.js';

/** Without the content, which only reads of single messages load. */
const LISTED = [
  'contact',
  'id',
  'tenant',
  'channel',
  'sender',
  'recipient',
  'text',
  'received_at',
  'message',
  'kind',
  'profile',
  'answers',
  'provider',
]
  .map((column) => `t.${column}`)
  .join(', ');

/** Reads inbound messages, newest first. */
@Injectable()
export class InboundTexts {
  constructor(@Inject(ContactStore) private readonly store: ContactStore) {}

  /** @param before messages of smaller ids */
  async ofContact(contactId: string, limit: number, before = LAST_ID): Promise<InboundText[]> {
    const rows = await this.store.database.all<Record<string, unknown>>(
      `SELECT ${LISTED} FROM messaging_inbound_text t WHERE t.contact = ? AND t.id < ?
       ORDER BY t.id DESC LIMIT ?`,
      [contactId, before, limit],
    );
    return decoded('inbound_text', rows).map(textOf);
  }

  async ofTenants(tenants: Tenants, limit: number): Promise<InboundText[]> {
    const { database } = this.store;
    if (tenants === 'all') {
      const rows = await database.all<Record<string, unknown>>(
        `SELECT ${LISTED} FROM messaging_inbound_text t ORDER BY t.received_at DESC LIMIT ?`,
        [limit],
      );
      return decoded('inbound_text', rows).map(textOf);
    }
    const each = await Promise.all(
      tenants.map((tenant) =>
        database.all<Record<string, unknown>>(
          `SELECT ${LISTED} FROM messaging_inbound_text t WHERE t.tenant = ? ORDER BY t.id DESC LIMIT ?`,
          [tenant, limit],
        ),
      ),
    );
    return decoded('inbound_text', each.flat())
      .map(textOf)
      .toSorted((one, other) => other.receivedAt.getTime() - one.receivedAt.getTime())
      .slice(0, limit);
  }

  /** `undefined`: the tenant has no such message, or its text is no longer kept. */
  async record(id: string, tenant: string): Promise<InboundRecord | undefined> {
    const rows = await this.store.database.all<Record<string, unknown>>(
      'SELECT t.* FROM messaging_inbound_text t WHERE t.tenant = ? AND t.id = ?',
      [tenant, id],
    );
    const [row] = decoded('inbound_text', rows);
    if (!row) return undefined;
    const content = storedContent(row.content, row.text);
    return { ...textOf(row), kind: content.kind, content };
  }

  /** By the id of the message. */
  async contents(messages: readonly InboundText[]): Promise<ReadonlyMap<string, InboundContent>> {
    const { dialect } = this.store.tables;
    const found = new Map(messages.map(({ id, text }) => [id, storedContent(null, text)] as const));
    const others = messages.filter(({ kind }) => kind !== 'text');
    if (others.length === 0) return found;
    const keys = dialect.rows({ v_contact: 'uuid', v_id: 'uuid' });
    const pairs = others.map(({ contactId, id }) => [contactId, id]);
    const rows = await this.store.database.all<{ id: string; content: string | null }>(
      `SELECT t.id, t.content FROM ${keys.keyed} ${dialect.join} messaging_inbound_text t
         ON t.contact = v_contact AND t.id = v_id`,
      keys.bind(pairs.toSorted(([, one = ''], [, other = '']) => (one < other ? -1 : 1))),
    );
    for (const { id, content } of rows)
      if (content !== null) found.set(id, storedContent(content, null));
    return found;
  }
}

function textOf(row: Omit<Row<'inbound_text'>, 'content'>): InboundText {
  const { contact, id, tenant, channel, sender, recipient, text, received_at } = row;
  return {
    id,
    tenant,
    contactId: contact,
    channel,
    from: sender,
    to: recipient,
    text,
    kind: kindOf(row),
    messageId: row.message,
    profileName: row.profile,
    repliesTo: row.answers,
    provider: row.provider,
    receivedAt: new Date(received_at),
  };
}

/** A row of an earlier version has no kind. */
function kindOf({ kind, text }: Pick<Row<'inbound_text'>, 'kind' | 'text'>): InboundText['kind'] {
  return (kind as InboundText['kind'] | null) ?? (text === null ? 'other' : 'text');
}
