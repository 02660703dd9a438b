import { isBatchId } from '../store/reads.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import { isReportedStatus } from '../message/status.js';
import type { ReportFilter } from '../message/views.js';
import { checkIdempotencyKey, checkTime } from './send-checks.js';

/** @throws MessageValidationError naming each field that says nothing the log could be asked */
export function checkReportFilter({
  batchIds,
  idempotencyKey,
  to,
  status,
  since,
}: ReportFilter): void {
  const errors: FieldError[] = [];
  const wrong = (path: string, message: string) => errors.push({ path, message });
  if (batchIds !== undefined && !Array.isArray(batchIds))
    wrong('batchIds', 'must be an array of batch ids');
  else if ((batchIds?.length ?? 0) > 100) wrong('batchIds', 'must be at most 100');
  else
    batchIds?.forEach((id, index) => {
      if (!isBatchId(id))
        wrong(`batchIds[${index}]`, 'must be the id of a batch, as send() gave it');
    });
  if (to !== undefined && !/^\d{1,15}$/.test(to))
    wrong('to', 'must be digits with country code, without a plus');
  if (status !== undefined && !isReportedStatus(status))
    wrong('status', 'must be a status that reports have, such as delivered');
  checkIdempotencyKey(idempotencyKey, errors);
  checkTime('since', since, errors);
  if (errors.length > 0) throw new MessageValidationError(errors);
}
