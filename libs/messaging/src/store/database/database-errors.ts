/** The driver's error code: SQLSTATE, `ER_…` or `SQLITE_…`. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (typeof code === 'string') return code;
  return driverError === undefined ? '' : codeOf(driverError);
}

/** Another connection holds SQLite's lock. */
export function isBusy(error: unknown): boolean {
  return (
    codeOf(error).startsWith('SQLITE_BUSY') ||
    (error instanceof Error && error.message.includes('database is locked'))
  );
}

const TRANSIENT = new Set([
  '40001',
  '40P01',
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  '1020',
  'ER_CHECKREAD',
]);

/** Deadlock or serialisation failure: a retry of the transaction may succeed. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error));
}

/**
 * The server lost the prepared statement of this name, or has another one; the statement did not
 * run.
 */
export function isStatementLost(error: unknown): boolean {
  return codeOf(error) === '26000' || isPlanRefused(error) || isStatementTaken(error);
}

/**
 * Another client prepared a statement of this name on the connection: a pooler shares the
 * connection.
 */
export function isStatementTaken(error: unknown): boolean {
  const code = codeOf(error);
  // A fatal error is a pooler's report of a lost server connection; its statement may have run.
  const ends = (error as { severity?: unknown }).severity === 'FATAL';
  return code === '42P05' || (code === '08P01' && !ends);
}

/** A table was changed, so that the prepared statement would return other columns. */
function isPlanRefused(error: unknown): boolean {
  return (
    codeOf(error) === '0A000' &&
    (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
  );
}

/** The wait for a lock of another transaction timed out. */
export function isLockTimeout(error: unknown): boolean {
  return ['55P03', 'ER_LOCK_WAIT_TIMEOUT'].includes(codeOf(error));
}

const UNAVAILABLE = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'ER_SERVER_SHUTDOWN',
  'ER_CON_COUNT_ERROR',
  'ER_CLIENT_INTERACTION_TIMEOUT',
  // PostgreSQL: idle in transaction for too long, too many connections.
  '25P03',
  '53300',
  // The store's own code.
  'database_given_up',
]);
const BROKEN =
  /connection (terminated|is closed)|client has encountered a connection error|query runner already released|connection is in closed state/i;

/**
 * The database or the network was unavailable: the last statement may or may not have taken effect.
 */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return (
    UNAVAILABLE.has(code) ||
    /^(08|57P)/.test(code) ||
    (error instanceof Error && BROKEN.test(error.message))
  );
}

/** Errors in the data, not of the server: SQLSTATE classes 22 and 23 and their equivalents. */
export function isDataError(error: unknown): boolean {
  const code = codeOf(error);
  return (
    /^2[123]/.test(code) ||
    code.startsWith('SQLITE_CONSTRAINT') ||
    /^ER_(DATA_|TRUNCATED|DUP_|BAD_NULL|WARN_DATA|INVALID_JSON|NO_REFERENCED|WRONG_VALUE)/.test(
      code,
    )
  );
}

/** MySQL has no `CREATE INDEX IF NOT EXISTS`. */
export function isDuplicateIndex(error: unknown): boolean {
  return codeOf(error) === 'ER_DUP_KEYNAME';
}
