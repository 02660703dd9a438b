import { Inject, Injectable } from '@nestjs/common';
import type { InboundText, Tenants } from '../message/views.js';
import { idAt, LAST_ID } from '../store/reads/newest-batches.js';
import { ContactStore } from './contact-store.js';
import { decoded } from './contact-tables.js';

/** Reads inbound messages, newest first. */
@Injectable()
export class InboundTexts {
  constructor(@Inject(ContactStore) private readonly store: ContactStore) {}

  /** @param before recorded before this time */
  async ofContact(contactId: string, limit: number, before?: Date): Promise<InboundText[]> {
    const rows = await this.store.database.all<Record<string, unknown>>(
      `SELECT t.* FROM messaging_inbound_text t WHERE t.contact = ? AND t.id < ?
       ORDER BY t.id DESC LIMIT ?`,
      [contactId, before ? idAt(before.getTime(), '0') : LAST_ID, limit],
    );
    return rows.map(textOf);
  }

  async ofTenants(tenants: Tenants, limit: number): Promise<InboundText[]> {
    const { database } = this.store;
    if (tenants === 'all')
      return (
        await database.all<Record<string, unknown>>(
          `SELECT t.* FROM messaging_inbound_text t ORDER BY t.received_at DESC LIMIT ?`,
          [limit],
        )
      ).map(textOf);
    const each = await Promise.all(
      tenants.map((tenant) =>
        database.all<Record<string, unknown>>(
          `SELECT t.* FROM messaging_inbound_text t WHERE t.tenant = ? ORDER BY t.id DESC LIMIT ?`,
          [tenant, limit],
        ),
      ),
    );
    return each
      .flat()
      .map(textOf)
      .toSorted((one, other) => other.receivedAt.getTime() - one.receivedAt.getTime())
      .slice(0, limit);
  }
}

function textOf(given: Record<string, unknown>): InboundText {
  const [row] = decoded('inbound_text', [given]);
  if (!row) throw new TypeError('a row decodes to one row');
  const { contact, id, tenant, channel, sender, recipient, text, received_at } = row;
  return {
    id,
    tenant,
    contactId: contact,
    channel,
    from: sender,
    to: recipient,
    text,
    receivedAt: new Date(received_at),
  };
}
