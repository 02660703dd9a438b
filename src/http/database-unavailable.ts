const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'ER_CON_COUNT_ERROR',
  'ER_SERVER_SHUTDOWN',
  'database_given_up',
  '53300', // PostgreSQL: too many connections
  '57P01', // admin shutdown
  '57P02', // crash shutdown
  '57P03', // cannot connect now
]);

/** The database cannot be reached or is locked: the same request may pass a moment later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (driverError !== undefined && driverError !== error && isDatabaseUnavailable(driverError))
    return true;
  if (typeof code === 'string') return CODES.has(code) || code.startsWith('SQLITE_BUSY');
  return error.message.startsWith('Connection terminated');
}
