import type { CommandStatusName } from '@dundun/smpp';
import type { ApiErrorCode } from '../http/api-error.js';
import { toApiError } from '../http/error-mapping.js';

/** By the code that the HTTP interface answers; `docs/smpp.md` has the same table. */
const BY_CODE: Readonly<Partial<Record<ApiErrorCode, CommandStatusName>>> = {
  sender_not_registered: 'ESME_RINVSRCADR',
  no_route: 'ESME_RINVDSTADR',
  rate_limited: 'ESME_RTHROTTLED',
  unavailable: 'ESME_RMSGQFUL',
  idempotency_key_in_use: 'ESME_RMSGQFUL',
  idempotency_key_invalid: 'ESME_RINVOPTPARAMVAL',
  idempotency_key_reused: 'ESME_RINVOPTPARAMVAL',
  internal_error: 'ESME_RSYSERR',
};

/** Statuses for `invalid_field`, by the field. */
const BY_FIELD: Readonly<Record<string, CommandStatusName>> = {
  from: 'ESME_RINVSRCADR',
  to: 'ESME_RINVDSTADR',
  body: 'ESME_RINVMSGLEN',
  sendAt: 'ESME_RINVSCHED',
  validFor: 'ESME_RINVEXPIRY',
};

/** A submit that is refused before it reaches the intake. */
export class SubmitRefused extends Error {
  constructor(readonly status: CommandStatusName) {
    super(`The submit is refused with ${status}`);
  }
}

/** The `command_status` that answers an error; anything else the interface refuses is `ESME_RSUBMITFAIL`. */
export function commandStatusOf(error: unknown): CommandStatusName {
  if (error instanceof SubmitRefused) return error.status;
  const { code, details } = toApiError(error);
  if (code !== 'invalid_field') return BY_CODE[code] ?? 'ESME_RSUBMITFAIL';
  const [field = ''] = details?.[0]?.path.split(/[.[]/, 1) ?? [];
  return BY_FIELD[field] ?? 'ESME_RSUBMITFAIL';
}

/** Whether the same submit may pass later, so that nothing is decided about it. */
export function isTemporary(status: CommandStatusName): boolean {
  return TEMPORARY.has(status);
}

const TEMPORARY: ReadonlySet<CommandStatusName> = new Set([
  'ESME_RTHROTTLED',
  'ESME_RMSGQFUL',
  'ESME_RSYSERR',
]);
