import { UncertainFailure } from '../message/errors.js';
import { identifier } from '../message/report-fields.js';
import type { Submission, SubmissionAccepted } from './message-transport.js';

/**
 * Checks an answer of `submit()`. The provider has accepted, but nothing could match its reports, so
 * that a wrong answer counts as none.
 * @throws UncertainFailure naming the transport and the field
 */
export function checkedAnswer(
  transport: string,
  { recipients }: Pick<Submission, 'recipients'>,
  answer: SubmissionAccepted,
): SubmissionAccepted {
  const refuse = (rule: string): never => {
    throw new UncertainFailure('invalid_answer', `submit() of the transport ${transport} ${rule}`);
  };
  if (typeof answer !== 'object' || answer === null) refuse('resolved with no answer');
  const { reference, messageIds, rejected, unroutable } = answer;
  if (identifier(reference) === null)
    refuse('resolved with a wrong reference: it must be a text of 1 to 255 characters');
  if (messageIds !== undefined && !Array.isArray(messageIds))
    refuse('resolved with wrong messageIds: they must be an array');
  if (messageIds && messageIds.length !== recipients.length)
    refuse(
      `resolved with ${messageIds.length} messageIds for ${recipients.length} recipients: there must be one for each`,
    );
  const refused = (rejected as unknown) === undefined || rejected instanceof Map;
  if (!refused) refuse('resolved with a wrong rejected: it must be a Map of recipients to codes');
  const isSet = (unroutable as unknown) === undefined || unroutable instanceof Set;
  if (!isSet) refuse('resolved with a wrong unroutable: it must be a Set of recipients');
  for (const [place, id] of (messageIds ?? []).entries())
    if (identifier(id) === null && !rejected?.has(recipients[place] as string))
      refuse(
        `resolved with a wrong messageIds[${place}]: it must be a text of 1 to 255 characters`,
      );
  return answer;
}
