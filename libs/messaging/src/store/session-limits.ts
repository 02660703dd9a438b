/** What a transaction of the store may take, in milliseconds. */
export interface TransactionLimits {
  /** Nothing is said in it: the server ends it and frees its locks. */
  readonly silence: number;
  /** It waits for one of somebody else's locks. @default the server's own */
  readonly patience: number | undefined;
}

/** PostgreSQL, within the transaction: they end with it. */
export function limitTransaction({ silence, patience }: TransactionLimits): string {
  const wait = patience === undefined ? '' : `; SET LOCAL lock_timeout = ${Math.ceil(patience)}`;
  return `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(silence)}${wait}`;
}

/** MySQL and MariaDB, before the transaction: they have these limits by session, in seconds. */
export function limitSession({ silence, patience }: TransactionLimits): string {
  const wait =
    patience === undefined ? '' : `, SESSION innodb_lock_wait_timeout = ${seconds(patience)}`;
  return `SET @messaging_wait_timeout = @@wait_timeout,
    @messaging_lock_wait = @@innodb_lock_wait_timeout,
    SESSION wait_timeout = ${seconds(silence)}${wait}`;
}

/** After the transaction: the session has what it had before {@link limitSession}. */
export const UNLIMIT_SESSION = `SET SESSION wait_timeout = @messaging_wait_timeout,
  SESSION innodb_lock_wait_timeout = @messaging_lock_wait`;

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}
