const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const BATCH_ID = new RegExp(`^${UUID}$`);
const MESSAGE_ID = new RegExp(`^(${UUID})-(\\d{1,7})$`);
const SUBMISSION_ID = new RegExp(`^(${UUID})-s(\\d{1,9})$`);

export function isBatchId(id: unknown): id is string {
  return typeof id === 'string' && BATCH_ID.test(id);
}

/**
 * Id of a message: `{batch}-{position}`. The statement of `store/postgres/settle.ts` builds it in
 * SQL, so that the messages of a group take one row.
 */
export function messageIdOf(batch: string, position: number): string {
  return `${batch}-${position}`;
}

/** Batch of a message and its place there; `undefined` where the text is no id of a message. */
export function messagePlaceOf(
  id: string,
): { readonly batch: string; readonly position: number } | undefined {
  const [, batch, position] = MESSAGE_ID.exec(id) ?? [];
  return batch === undefined ? undefined : { batch, position: Number(position) };
}

/** Id of a submission, and the idempotency key of its requests: `{batch}-s{n}`. */
export function submissionIdOf(batch: string, n: number): string {
  return `${batch}-s${n}`;
}

/** Batch of a submission and its number there; `undefined` where the text is no id of a submission. */
export function submissionPlaceOf(
  id: string,
): { readonly batch: string; readonly n: number } | undefined {
  const [, batch, n] = SUBMISSION_ID.exec(id) ?? [];
  return batch === undefined ? undefined : { batch, n: Number(n) };
}

/**
 * Name of the lane of a tenant's channel, where the option `dispatch.lane` gives no other. With `'*'`
 * as tenant or channel it names the lanes of all of them, as a hold takes them.
 */
export function laneOf(tenant: string, channel: string): string {
  return `${tenant}:${channel}`;
}

/**
 * Tenant and channel of a lane's name, as the option `dispatch.rateLimit` gets it. The name of a
 * tenant may have a colon; `undefined` where the name of the lane has none.
 */
export function partsOfLane(
  lane: string,
): { readonly tenant: string; readonly channel: string } | undefined {
  const colon = lane.lastIndexOf(':');
  return colon < 0 ? undefined : { tenant: lane.slice(0, colon), channel: lane.slice(colon + 1) };
}

/** Name of a lane of a work queue: the queue's own, and what the work is for. */
export function queueLaneOf(queue: string, key: string): string {
  return `${queue}:${key}`;
}

/** Queue and key of the name of its lane. The key may have a colon, the name of a queue has none. */
export function partsOfQueueLane(lane: string): { readonly queue: string; readonly key: string } {
  const colon = lane.indexOf(':');
  return { queue: lane.slice(0, Math.max(0, colon)), key: lane.slice(colon + 1) };
}
