import { messageIdOf } from '../../../message/ids.js';
import { type BatchLabels, NO_LABELS } from '../../../message/labels.js';
import { countryOfNumber } from '../../../message/phone-country.js';
import type { ListedMessage } from '../../../message/views.js';
import type { RowSource } from '../../database/dialect.js';
import type { StoreDatabase } from '../../database/store-database.js';
import { stateOf } from '../../rows/batch-state.js';
import { deferredUntilOf } from '../deferrals.js';
import { dateOf } from '../report-list.js';
import type { Head } from './message-window.js';

/** A message that a page has found. */
export interface Located {
  readonly head: Head;
  readonly position: number;
  readonly recipient: string;
}

interface Started extends Pick<ListedMessage, 'position' | 'errorCode' | 'attempts' | 'sequence'> {
  readonly batch: string;
  readonly status: number;
  readonly dueAt: string | number | null;
}

/** Of a batch, taken from its content and labels by the server. */
interface Outline {
  readonly subject: string | null;
  readonly kind: string | null;
  readonly template: string | null;
  readonly labels?: string | null;
}

const NO_OUTLINE: Outline = { subject: null, kind: null, template: null };

/** Before its outline, tags and provider are read. */
export type Plain = Omit<ListedMessage, 'subject' | 'kind' | 'template' | 'tags' | 'metadata'>;

/** Reads what a list shows of the messages that it has found. */
export class ListedMessages {
  readonly #places: RowSource;
  readonly #ids: RowSource;

  constructor(private readonly database: StoreDatabase) {
    const { dialect } = database;
    this.#places = dialect.rows({ v_batch: 'uuid', v_position: 'int' });
    this.#ids = dialect.rows({ v_id: 'uuid' });
  }

  async withStatus(located: readonly Located[]): Promise<Plain[]> {
    if (located.length === 0) return [];
    const { dialect, channels } = this.database;
    const rows = await this.database.all<Started>(
      `SELECT m.batch, m.position, m.status, m.attempt AS "attempts", m.error_code AS "errorCode",
         m.due_at AS "dueAt", m.sequence FROM ${this.#places.keyed} ${dialect.join}
         messaging_message m ON m.batch = v_batch AND m.position = v_position`,
      this.#places.bind(located.map(({ head, position }) => [head.id, position])),
    );
    const started = new Map(rows.map((row) => [messageIdOf(row.batch, row.position), row]));
    return located.map(({ head, position, recipient }) => {
      const id = messageIdOf(head.id, position);
      const own = started.get(id);
      const waiting = stateOf(head) === 'cancelled' ? 'cancelled' : 'queued';
      return {
        id,
        batchId: head.id,
        tenant: head.tenant,
        channel: head.channel,
        provider: null,
        position,
        recipient,
        status: own ? channels.nameOf(own.status) : waiting,
        errorCode: own?.errorCode ?? null,
        attempts: own?.attempts ?? 0,
        sequence: own?.sequence ?? 0,
        deferredUntil: own ? deferredUntilOf(own.status, own.dueAt) : null,
        sender: head.sender,
        country: countryOf(recipient),
        parts: head.parts,
        cost: null,
        currency: null,
        acceptedAt: dateOf(head.createdAt),
        sendAt: head.sendAt === null ? null : dateOf(head.sendAt),
      };
    });
  }

  async withProviders(messages: readonly Plain[]): Promise<Plain[]> {
    if (messages.length === 0) return [];
    const { dialect } = this.database;
    const rows = await this.database.all<{
      batch: string;
      position: number;
      provider: string;
      details: string | null;
    }>(
      `SELECT m.batch, m.position, s.provider, s.details FROM ${this.#places.keyed}
       ${dialect.join} messaging_message m ON m.batch = v_batch AND m.position = v_position
       ${dialect.join} messaging_submission s ON s.batch = m.batch AND s.n = m.submission`,
      this.#places.bind(messages.map(({ batchId, position }) => [batchId, position])),
    );
    const providers = new Map(
      rows.map(({ batch, position, provider, details }) => [
        messageIdOf(batch, position),
        { provider, ...priceOf(details) },
      ]),
    );
    return messages.map((message) => ({ ...message, ...providers.get(message.id) }));
  }

  async described(page: readonly Plain[]) {
    if (page.length === 0) return [];
    const batches = [...new Set(page.map(({ batchId }) => batchId))];
    const described = await this.outlines(batches);
    return page.map((message): ListedMessage => {
      const { labels = null, ...outline } = described.get(message.batchId) ?? NO_OUTLINE;
      const { tags, metadata } = readLabels(labels) ?? NO_LABELS;
      return { ...message, ...outline, tags, metadata };
    });
  }

  async outlines(batches: readonly string[]) {
    const { dialect } = this.database;
    // The server takes the subject from the content, which may have some megabytes.
    const rows = await this.database.all<Outline & { id: string }>(
      `SELECT b.id, ${dialect.jsonText('b.content', 'subject')} AS subject,
         ${dialect.jsonText('b.content', 'kind')} AS kind,
         ${dialect.jsonText('b.content', 'template')} AS template, l.labels
       FROM ${this.#ids.keyed} ${dialect.join} messaging_batch b ON b.id = v_id
       LEFT JOIN messaging_batch_label l ON l.batch = b.id AND l.n = 0`,
      this.#ids.bind(batches.map((id) => [id])),
    );
    return new Map(rows.map(({ id, ...row }) => [id, row]));
  }
}

export function isNumber(recipient: string): boolean {
  return /^\d+$/.test(recipient);
}

export function countryOf(recipient: string): string {
  return isNumber(recipient) ? countryOfNumber(recipient) : '';
}

/** The price in the provider's answer. */
function priceOf(details: string | null): Pick<ListedMessage, 'cost' | 'currency'> {
  const { cost, currency } = (details === null ? {} : JSON.parse(details)) as Record<
    string,
    unknown
  >;
  const isAmount = typeof cost === 'string' || typeof cost === 'number';
  return {
    cost: isAmount ? String(cost) : null,
    currency: typeof currency === 'string' ? currency : null,
  };
}

function readLabels(json: string | null): BatchLabels | undefined {
  return json === null ? undefined : (JSON.parse(json) as BatchLabels);
}
