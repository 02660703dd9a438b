import type { NewBatch } from '../store/new-batch.js';
import type { Transaction } from '../store/store-database.js';
import type { MessageContent } from '../message/message.js';
import { PolicyError, type RecipientDenial } from '../policy/policy-error.js';
import type { PolicyPipeline } from '../policy/policy-pipeline.js';

/**
 * Asks the policies about a batch before it is stored. Those denied come first, so that their messages,
 * which begin as `rejected`, are the batch's first; all denied is an error, and told as one.
 */
export async function admit(
  pipeline: PolicyPipeline,
  batch: NewBatch,
  content: MessageContent,
  tx: Transaction | undefined,
): Promise<NewBatch | PolicyError> {
  const { tenant, channel, sender, recipients } = batch;
  const message = { tenant, channel, sender, content };
  const rulings = await pipeline.review([{ message, recipients }], 'send', tx);
  if (rulings.size === 0) return batch;
  const denials: RecipientDenial[] = [];
  const allowed: string[] = [];
  recipients.forEach((recipient, index) => {
    const ruling = rulings.get(index);
    if (ruling?.decision !== 'deny') allowed.push(recipient);
    else {
      const { code, reason, policy } = ruling;
      denials.push({ recipient, code, reason, policy });
    }
  });
  const [first, ...others] = denials;
  if (!first) return batch;
  if (allowed.length === 0) return new PolicyError([first, ...others]);
  return {
    ...batch,
    recipients: [...denials.map(({ recipient }) => recipient), ...allowed],
    denied: denials.map(({ code }) => code),
  };
}
