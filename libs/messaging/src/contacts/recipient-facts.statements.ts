import type { Columns, Dialect, RowSource } from '../store/dialect.js';
import type { Channel } from '../message/message.js';

/** Who is asked about, for a message over which channel and from whom. */
export interface FactsQuestion {
  readonly tenant: string;
  readonly channel: Channel;
  readonly sender: string;
  readonly recipients: readonly string[];
}

/** Who is read: everybody who is known, or only those who refused. */
export type FactsOf = 'known' | 'refused';

export interface FactsRow {
  /** Place among all that were asked about; from the form for one sender `null`, then `recipient` tells. */
  readonly v_i: number | string | null;
  readonly recipient: string;
  readonly suppressed: number | string | null;
  readonly contact: string | null;
  readonly consent: 'opted_in' | 'opted_out' | null;
  readonly last_at: string | number | null;
}

const MANY = {
  v_i: 'int',
  v_recipient: 'key',
  v_tenant: 'key',
  v_channel: 'key',
  v_sender: 'key',
} as const satisfies Columns;

/** What is asked about recipients: of one sender the common and short way, of many with each one's own. */
export function factsStatements(dialect: Dialect) {
  const one = dialect.rows({ v_recipient: 'key' });
  const many = dialect.rows(MANY);
  const statements = (of: FactsOf) => ({ one: ofOne(dialect, one, of), many: ofMany(many, of) });
  const sql = { known: statements('known'), refused: statements('refused') };
  return {
    /** About recipients that have tenant, channel and sender in common. */
    ofOne: (of: FactsOf, { tenant, channel, sender }: FactsQuestion, to: readonly string[]) => {
      const recipients = one.bind(to.map((recipient) => [recipient]));
      return {
        sql: sql[of].one,
        params: [...recipients, tenant, channel, ...recipients, channel, sender, tenant],
      };
    },
    ofMany: (of: FactsOf, questions: readonly FactsQuestion[]) => {
      let place = 0;
      const rows = questions.flatMap(({ tenant, channel, sender, recipients }) =>
        recipients.map((recipient) => [place++, recipient, tenant, channel, sender]),
      );
      return { sql: sql[of].many, params: many.bind(rows) };
    },
  };
}

function ofOne(dialect: Dialect, recipients: RowSource, of: FactsOf): string {
  const [consented, only] =
    of === 'refused' ? [dialect.join, `WHERE k.state = 'opted_out' AND`] : ['LEFT JOIN', 'WHERE'];
  return `SELECT NULL AS v_i, s.recipient, 1 AS suppressed, NULL AS contact, NULL AS consent, NULL AS last_at
      FROM ${dialect.whereIn('messaging_suppression', 'recipient', 's', recipients)}
      WHERE s.tenant = ? AND s.channel IN (?, '*')
    UNION ALL
    SELECT NULL, c.phone, NULL, c.id, k.state, i.last_at
      FROM ${dialect.whereIn('messaging_contact', 'phone', 'c', recipients)}
      ${consented} messaging_consent k ON k.contact = c.id AND k.channel = ?
      LEFT JOIN messaging_inbound i ON i.contact = c.id AND i.sender = ?
      ${only} c.tenant = ?`;
}

function ofMany(rows: RowSource, of: FactsOf): string {
  const told = of === 'refused' ? `k.state = 'opted_out'` : 'c.id IS NOT NULL';
  return `SELECT v_i, v_recipient AS recipient, s.recipient AS suppressed, c.id AS contact,
      k.state AS consent, i.last_at
    FROM ${rows.sql}
    LEFT JOIN messaging_suppression s ON s.tenant = v_tenant AND s.recipient = v_recipient
      AND s.channel IN (v_channel, '*')
    LEFT JOIN messaging_contact c ON c.tenant = v_tenant AND c.phone = v_recipient
    LEFT JOIN messaging_consent k ON k.contact = c.id AND k.channel = v_channel
    LEFT JOIN messaging_inbound i ON i.contact = c.id AND i.sender = v_sender
    WHERE s.recipient IS NOT NULL OR ${told}`;
}
