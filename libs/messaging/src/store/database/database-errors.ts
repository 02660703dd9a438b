/** The driver's code of a failed statement: SQLSTATE, `ER_…` or `SQLITE_…`. */
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

/** Deadlock or serialisation failure: the same transaction may pass when tried again. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error));
}

/** What a name means on the server is not what was prepared by it, or nothing any more; the statement did not run. */
export function isStatementLost(error: unknown): boolean {
  return codeOf(error) === '26000' || isPlanRefused(error) || isStatementTaken(error);
}

/** Somebody else prepared a statement by that name on the connection: a pooler shares it out. */
export function isStatementTaken(error: unknown): boolean {
  const code = codeOf(error);
  // Where it ends the connection it is a pooler's word for a server it has lost, with whatever that was doing.
  const ends = (error as { severity?: unknown }).severity === 'FATAL';
  return code === '42P05' || (code === '08P01' && !ends);
}

/** A table was changed so that a prepared statement would answer with other columns. */
function isPlanRefused(error: unknown): boolean {
  return (
    codeOf(error) === '0A000' &&
    (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
  );
}

/** Somebody else's lock was waited for long enough. */
export function isLockTimeout(error: unknown): boolean {
  return ['55P03', 'ER_LOCK_WAIT_TIMEOUT'].includes(codeOf(error));
}

const UNAVAILABLE = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'ER_SERVER_SHUTDOWN',
  'ER_CON_COUNT_ERROR',
  'ER_CLIENT_INTERACTION_TIMEOUT',
  // PostgreSQL: idle in transaction for too long, too many connections.
  '25P03',
  '53300',
  // The store's own.
  'database_given_up',
]);
const BROKEN =
  /connection (terminated|is closed)|client has encountered a connection error|query runner already released|connection is in closed state/i;

/** The database or the way to it was gone: nobody knows whether the last statement took effect. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return (
    UNAVAILABLE.has(code) ||
    /^(08|57P)/.test(code) ||
    (error instanceof Error && BROKEN.test(error.message))
  );
}

/** Classes 22 and 23 of SQLSTATE and their like: the data is at fault, not the server. */
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
