import type { Page } from '@dundun/messaging';
import { LessThan } from 'typeorm';
import { invalidFields } from '../http/api-error.js';
import { WebhookAttemptEntity } from './webhook-attempt.entity.js';
import type { WebhookDatabase } from './webhook-database.js';

/** Attempts read back. */
export class WebhookAttemptsRepository {
  constructor(private readonly database: WebhookDatabase) {}

  /**
   * Attempts of one endpoint, newest first.
   *
   * @throws ApiError 422 on `cursor`
   */
  async page(
    endpointId: string,
    { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<Page<WebhookAttemptEntity>> {
    const before = cursor === undefined ? undefined : LessThan(positionOf(cursor));
    const found = await this.database.repository(WebhookAttemptEntity).find({
      where: { endpointId, ...(before && { position: before }) },
      order: { position: 'DESC' },
      take: limit + 1,
    });
    const data = found.slice(0, limit);
    const last = data.at(-1);
    return { data, nextCursor: last && found.length > limit ? cursorOf(last.position) : null };
  }
}

function cursorOf(position: string): string {
  return Buffer.from(`a${position}`).toString('base64url');
}

function positionOf(cursor: string): string {
  const position = /^a(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (position === undefined)
    throw invalidFields([
      { path: 'cursor', message: 'must be the next_cursor of the page before' },
    ]);
  return position;
}
