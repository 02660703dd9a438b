import type { PlannedBatch } from '../store/planned-batch.js';
import type { Addressed } from '../policy/judged-slice.js';
import type { PolicyPipeline } from '../policy/policy-pipeline.js';
import type { Ruling } from '../policy/ruling.js';
import type { Submission } from '../ports/message-transport.js';

/** A verdict is at most this old when a request starts, in milliseconds. */
export const VERDICT_LASTS = 1_000;

/** What policy says of the n-th recipient planned of a batch; nothing: it may go. */
export type RulingOf = (batch: PlannedBatch, index: number) => Ruling | undefined;

/** Asks the policies about a planned slice, all its batches at once. What has expired is not asked about. */
export async function judgePlanned(
  policy: PolicyPipeline,
  planned: readonly PlannedBatch[],
): Promise<RulingOf> {
  const offsets = new Map<string, number>();
  const asked: Addressed[] = [];
  let offset = 0;
  for (const batch of planned) {
    if (batch.expired) continue;
    offsets.set(batch.id, offset);
    const { tenant, channel, sender, content } = batch;
    const recipients = batch.recipients.map(({ recipient }) => recipient);
    const message = { tenant, channel, sender, content, batchId: batch.id };
    asked.push({ message, recipients });
    offset += recipients.length;
  }
  const rulings = await policy.review(asked, 'dispatch');
  if (rulings.size === 0) return () => undefined;
  return ({ id }, index) => rulings.get((offsets.get(id) ?? Number.NaN) + index);
}

/** Asks again about submissions as they are: the first ruling against any member of each. */
export async function judgeReady<T extends { readonly submission: Submission }>(
  policy: PolicyPipeline,
  items: readonly T[],
): Promise<Map<T, Ruling>> {
  const of: T[] = [];
  const asked: Addressed[] = [];
  for (const item of items) {
    const { tenant, channel, sender, content, batchId, recipients } = item.submission;
    asked.push({ message: { tenant, channel, sender, content, batchId }, recipients });
    for (let n = 0; n < recipients.length; n++) of.push(item);
  }
  const found = new Map<T, Ruling>();
  for (const [index, ruling] of await policy.review(asked, 'dispatch')) {
    const item = of[index] as T;
    const before = found.get(item);
    if (!before || (before.decision === 'defer' && ruling.decision !== 'defer'))
      found.set(item, ruling);
  }
  return found;
}
