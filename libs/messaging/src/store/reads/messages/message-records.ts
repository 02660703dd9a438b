import { isBatchId, messageIdOf, messagePlaceOf, submissionIdOf } from '../../../message/ids.js';
import type { MessageContent } from '../../../message/message.js';
import { shownContent } from '../../rows/stored-content.js';
import { MessageNotFoundError } from '../../../message/errors.js';
import type { MessageRecord, Tenants } from '../../../message/views.js';
import type { StoreDatabase } from '../../database/store-database.js';
import { personalised } from '../../../message/variables.js';
import type { BatchData } from '../batch-data.js';
import type { MessageList } from './message-list.js';
import type { Reads } from '../reads.js';
import { dateOf } from '../report-list.js';

type Big = string | number;

const REFERENCE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** A batch, or one message of it. */
export interface Reference {
  readonly batchId: string;
  readonly position?: number | undefined;
}

/** Finds messages of any tenant and channel. */
export class MessageRecords {
  constructor(
    private readonly database: StoreDatabase,
    private readonly reads: Reads,
    private readonly messages: MessageList,
    private readonly data: BatchData,
  ) {}

  /** By the id of a batch or message, or the provider's id; `undefined`: it names nothing. */
  async find(reference: string): Promise<Reference | undefined> {
    if (isBatchId(reference)) return { batchId: reference, position: undefined };
    const place = messagePlaceOf(reference);
    if (place) return { batchId: place.batch, position: place.position };
    if (!REFERENCE.test(reference)) return undefined;
    const [message] = await this.database.all<{ batch: string; position: number }>(
      'SELECT m.batch, m.position FROM messaging_message m WHERE m.reference = ? LIMIT 1',
      [reference],
    );
    if (message) return { batchId: message.batch, position: message.position };
    const [submission] = await this.database.all<{ batch: string; first: number; last: number }>(
      `SELECT s.batch, s.first_position AS first, s.last_position AS last
       FROM messaging_submission s WHERE s.reference = ? LIMIT 1`,
      [reference],
    );
    if (!submission) return undefined;
    const { batch, first, last } = submission;
    return { batchId: batch, position: first === last ? first : undefined };
  }

  /** `undefined`: none of the tenants has the batch. */
  async scopeOf(
    batchId: string,
    tenants: Tenants,
  ): Promise<{ readonly tenant: string; readonly channel: string } | undefined> {
    const [row] = await this.database.all<{ tenant: string; channel: string }>(
      'SELECT b.tenant, b.channel FROM messaging_batch b WHERE b.id = ?',
      [batchId],
    );
    return row && (tenants === 'all' || tenants.includes(row.tenant)) ? row : undefined;
  }

  /** @param id `{batchId}-{position}` @throws MessageNotFoundError */
  async record(id: string, tenants: Tenants): Promise<MessageRecord> {
    const place = messagePlaceOf(id);
    if (!place) throw new MessageNotFoundError(id);
    const { batch: batchId, position } = place;
    const scope = await this.scopeOf(batchId, tenants);
    if (!scope) throw new MessageNotFoundError(id);
    const timeline = await this.reads.timeline(id, scope);
    const [listed] = (
      await this.messages.page({ tenants: [scope.tenant] }, { batchId, position, limit: 1 })
    ).data;
    if (!listed) throw new MessageNotFoundError(id);
    const [row] = await this.database.all<{
      lane: string;
      parts: number;
      validUntil: Big | null;
      availableAt: Big;
      deferredUntil: Big;
      dueAt: Big | null;
      submission: number | null;
    }>(
      `SELECT b.lane, b.parts, b.valid_until AS "validUntil", b.available_at AS "availableAt",
         b.parked_until AS "deferredUntil", m.due_at AS "dueAt", m.submission
       FROM messaging_batch b LEFT JOIN messaging_message m ON m.batch = b.id AND m.position = ?
       WHERE b.id = ?`,
      [position, batchId],
    );
    if (!row) throw new MessageNotFoundError(id);
    const due = Math.max(
      Number(row.availableAt),
      Number(row.deferredUntil),
      row.dueAt === null ? 0 : Number(row.dueAt),
    );
    const { content } = timeline;
    const [personal] =
      content?.kind === 'email' || content?.kind === 'text'
        ? await this.data.personal([{ batch: batchId, position }])
        : [];
    const own = personal && content ? personalised(content, personal) : content;
    return {
      ...listed,
      ...timeline,
      content: own,
      lane: row.lane,
      submissionId: row.submission === null ? null : submissionIdOf(batchId, row.submission),
      parts: (personal && own && this.#partsOf(scope.channel, own)) ?? row.parts,
      validUntil: row.validUntil === null ? null : dateOf(row.validUntil),
      waitsUntil: timeline.status === 'queued' ? dateOf(due) : null,
    };
  }

  /** Contents of messages by their ids; without those that are unknown or whose content is gone. */
  async contents(
    ids: readonly string[],
    { codes = false }: { readonly codes?: boolean } = {},
  ): Promise<Map<string, MessageContent>> {
    const places = ids.flatMap((id) => {
      const place = messagePlaceOf(id);
      return place ? [{ id, ...place }] : [];
    });
    if (places.length === 0) return new Map();
    const { dialect } = this.database;
    const rows = dialect.rows({ v_batch: 'uuid', v_position: 'int' });
    const found = await this.database.all<{ batch: string; position: number; content: string }>(
      `SELECT v_batch AS batch, v_position AS position, coalesce(s.content, b.content) AS content
       FROM ${rows.keyed} ${dialect.join} messaging_batch b ON b.id = v_batch
       LEFT JOIN messaging_message m ON m.batch = v_batch AND m.position = v_position
       LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
       WHERE b.content IS NOT NULL`,
      rows.bind(places.map(({ batch, position }) => [batch, position])),
    );
    const contentOf = await (codes ? this.data.reader(found) : this.data.stored(found));
    const read = found.flatMap(({ batch, position, content: json }) => {
      const stored = contentOf(batch, json);
      if (!stored || stored.unreadable) return [];
      const { hasPersonal } = stored;
      const content = codes ? stored.content : shownContent(stored.content);
      return content ? { batch, position: Number(position), content, hasPersonal } : [];
    });
    const filled = read.filter(({ hasPersonal }) => hasPersonal);
    const personal = await this.data.personal(filled);
    const own = new Map(filled.map((one, n) => [one, personal[n]]));
    return new Map(
      read.map((one) => [
        messageIdOf(one.batch, one.position),
        personalised(one.content, own.get(one)),
      ]),
    );
  }

  #partsOf(channel: string, content: MessageContent): number | undefined {
    return this.database.channels.find(channel)?.content[content.kind]?.({ ...content }, []).parts;
  }
}
