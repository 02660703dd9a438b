import type { ErasedAddress, ErasureListener } from '@dundun/messaging';
import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Most rows that one query reads. */
const WINDOW = 5_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface Payload {
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Erases a person from callbacks and from the responses of receivers. Callbacks that are still due
 * are sent without the number and the text. No index has a number: all rows of the account's
 * endpoints are read, window by window.
 */
@Injectable()
export class WebhookErasure implements ErasureListener {
  readonly #database: QueueDatabase;

  constructor({ database }: WorkQueues) {
    this.#database = database;
  }

  async onErased({ tenant, address }: ErasedAddress, manager?: EntityManager): Promise<void> {
    const tx = manager && this.#database.join(manager);
    const endpoints = await (tx ?? this.#database).all<{ id: string }>(
      'SELECT id FROM gateway_webhook_endpoint WHERE account_id = ?',
      [tenant],
    );
    for (const { id } of endpoints) {
      await this.#erasePayloads(id, address.value, tx);
      await this.#eraseResponses(id, address.value, tx);
    }
  }

  async #erasePayloads(endpoint: string, value: string, tx?: Sql): Promise<void> {
    const sql = tx ?? this.#database;
    const of = 'FROM gateway_webhook_delivery WHERE endpoint_id = ? AND id > ?';
    for (let after: string | undefined = FIRST_ID; after !== undefined;) {
      const last: { id: string } | undefined = (
        await sql.all<{ id: string }>(`SELECT id ${of} ORDER BY id LIMIT 1 OFFSET ${WINDOW - 1}`, [
          endpoint,
          after,
        ])
      )[0];
      const [until, params] = last ? [' AND id <= ?', [last.id]] : ['', []];
      const found = await sql.all<{ position: string | number; payload: string }>(
        `SELECT position, payload ${of}${until} AND payload LIKE ? ESCAPE '!'`,
        [endpoint, after, ...params, containing(JSON.stringify(value).slice(1, -1))],
      );
      const changed = found.flatMap(({ position, payload }) => {
        const without = withoutPerson(payload, value);
        return without === payload ? [] : [[without, position]];
      });
      if (changed.length > 0)
        await this.#in(tx, async (own) => {
          for (const row of changed)
            await own.run(
              'UPDATE gateway_webhook_delivery SET payload = ? WHERE position = ?',
              row,
            );
        });
      after = last?.id;
    }
  }

  /** A receiver may have repeated the request in its answer. */
  async #eraseResponses(endpoint: string, value: string, tx?: Sql): Promise<void> {
    const sql = tx ?? this.#database;
    const of = 'FROM gateway_webhook_attempt WHERE endpoint_id = ? AND position > ?';
    for (let after: number | undefined = 0; after !== undefined;) {
      const last: { position: string | number } | undefined = (
        await sql.all<{ position: string | number }>(
          `SELECT position ${of} ORDER BY position LIMIT 1 OFFSET ${WINDOW - 1}`,
          [endpoint, after],
        )
      )[0];
      const [until, params] = last ? [' AND position <= ?', [last.position]] : ['', []];
      const found = await sql.all<{ position: string | number }>(
        `SELECT position ${of}${until} AND response LIKE ? ESCAPE '!'`,
        [endpoint, after, ...params, containing(value)],
      );
      if (found.length > 0)
        await this.#in(tx, async (own) => {
          for (const { position } of found)
            await own.run('UPDATE gateway_webhook_attempt SET response = NULL WHERE position = ?', [
              position,
            ]);
        });
      after = last && Number(last.position);
    }
  }

  #in(tx: Sql | undefined, work: (own: Sql) => Promise<void>): Promise<void> {
    return tx ? work(tx) : this.#database.transaction(work);
  }
}

/** What the person wrote, or shows. */
const WRITTEN = ['text', 'content', 'profile_name'];

/** The event without the person: `to` empty, other fields and the text of the person null. */
function withoutPerson(payload: string, value: string): string {
  const event = JSON.parse(payload) as Payload;
  const isPerson = (field: string) => event.data[field] === value;
  const fields = Object.keys(event.data).filter(isPerson);
  if (fields.length === 0) return payload;
  const wrote = fields.includes('from') || fields.includes('bsuid');
  const erased = fields.map((field) => [field, field === 'to' ? '' : null] as const);
  const text = wrote
    ? Object.fromEntries(WRITTEN.filter((name) => name in event.data).map((name) => [name, null]))
    : {};
  const further = {
    ...('metadata' in event.data && { metadata: {} }),
    ...('bounce' in event.data && { bounce: null }),
  };
  return JSON.stringify({
    ...event,
    data: { ...event.data, ...Object.fromEntries(erased), ...text, ...further },
  });
}

function containing(value: string): string {
  return `%${value.replaceAll(/[!%_]/g, '!$&')}%`;
}
