function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (typeof code === 'string') return code;
  return driverError === undefined ? '' : codeOf(driverError);
}

/** Codes by meaning, and messages of errors that the drivers give no code. */
const MEANINGS = {
  busy: /^SQLITE_BUSY/,
  transient: /^(40001|40P01|ER_LOCK_DEADLOCK|ER_LOCK_WAIT_TIMEOUT|1020|ER_CHECKREAD)$/,
  lockTimeout: /^(55P03|ER_LOCK_WAIT_TIMEOUT)$/,
  // PostgreSQL's 25P03 is idle in transaction for too long, 53300 too many connections.
  unavailable:
    /^(08.*|57P.*|25P03|53300|ECONNRESET|ECONNREFUSED|ENOTFOUND|EPIPE|ETIMEDOUT|PROTOCOL_CONNECTION_LOST|ER_SERVER_SHUTDOWN|ER_CON_COUNT_ERROR|ER_CLIENT_INTERACTION_TIMEOUT|database_given_up)$/,
  // 25006 is a read-only transaction; 1290 and 1836 a read-only server.
  readOnly:
    /^(25006|SQLITE_READONLY.*|ER_OPTION_PREVENTS_STATEMENT|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|ER_READ_ONLY_MODE)$/,
  full: /^(53100|58030|SQLITE_(FULL|IOERR.*|CANTOPEN.*)|ER_(DISK_FULL|RECORD_FILE_FULL|ERROR_ON_WRITE))$/,
  missing: /^(42P01|42703|ER_NO_SUCH_TABLE|ER_BAD_FIELD_ERROR)$/,
  // SQLSTATE classes 21 to 23, and their equivalents.
  data: /^(2[123]|SQLITE_CONSTRAINT|ER_(DATA_|TRUNCATED|DUP_|BAD_NULL|WARN_DATA|INVALID_JSON|NO_REFERENCED|WRONG_VALUE))/,
} as const;
const LOCKED = /database is locked/;
const MISSING = /no such (table|column)/;
const BROKEN =
  /connection (terminated|is closed)|client has encountered a connection error|query runner already released|connection is in closed state/i;

function says(error: unknown, words: RegExp): boolean {
  return error instanceof Error && words.test(error.message);
}

/** Another connection holds SQLite's lock. */
export function isBusy(error: unknown): boolean {
  return MEANINGS.busy.test(codeOf(error)) || says(error, LOCKED);
}

/** Deadlock or serialisation failure: a retry of the transaction may succeed. */
export function isTransient(error: unknown): boolean {
  return MEANINGS.transient.test(codeOf(error));
}

export function isLockTimeout(error: unknown): boolean {
  return MEANINGS.lockTimeout.test(codeOf(error));
}

/**
 * The database or network was unavailable, or the database takes no writes: the last statement may
 * or may not have taken effect.
 */
export function isUnavailable(error: unknown): boolean {
  const isAway = MEANINGS.unavailable.test(codeOf(error)) || says(error, BROKEN);
  return isAway || refusalOfWrites(error) !== undefined;
}

/** `full`: no space is left, or the disk fails. */
export type WriteRefusal = 'read_only' | 'full';

/** Why a database that reads takes no writes; `undefined` for other errors. */
export function refusalOfWrites(error: unknown): WriteRefusal | undefined {
  const code = codeOf(error);
  if (MEANINGS.readOnly.test(code)) return 'read_only';
  return MEANINGS.full.test(code) ? 'full' : undefined;
}

/** A table or column that the database does not have. */
export function isMissing(error: unknown): boolean {
  return MEANINGS.missing.test(codeOf(error)) || says(error, MISSING);
}

/** Errors in the data, not of the server. */
export function isDataError(error: unknown): boolean {
  return MEANINGS.data.test(codeOf(error));
}

export function isDuplicateIndex(error: unknown): boolean {
  return codeOf(error) === 'ER_DUP_KEYNAME';
}

/** PostgreSQL lost the statement, or refuses its plan after a table change; it did not run. */
export function isStatementLost(error: unknown): boolean {
  const { routine } = error as { routine?: unknown };
  const isRefused = codeOf(error) === '0A000' && routine === 'RevalidateCachedQuery';
  return codeOf(error) === '26000' || isRefused || isStatementTaken(error);
}

/** A pooler shares the connection: another client prepared a statement of this name on it. */
export function isStatementTaken(error: unknown): boolean {
  const code = codeOf(error);
  // A fatal error is a pooler's report of a lost server connection; its statement may have run.
  const isFatal = (error as { severity?: unknown }).severity === 'FATAL';
  return code === '42P05' || (code === '08P01' && !isFatal);
}

/** PostgreSQL: a row with the same unique key exists. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === '23505';
}
