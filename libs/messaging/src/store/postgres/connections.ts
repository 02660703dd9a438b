import type { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';

/**
 * Listens to each connection of a PostgreSQL pool from the moment it is made. TypeORM does so a moment
 * later, and one that is cut in between (a failover, a pooler at its limit) has nobody to tell: that
 * ends the process. Whoever uses the connection learns of it from its statement.
 */
export function listenFromTheStart({ driver }: DataSource): void {
  const { master, slaves = [] } = driver as { master?: EventEmitter; slaves?: EventEmitter[] };
  for (const pool of [master, ...slaves])
    if (pool && !pool.listeners('connect').includes(listen)) pool.on('connect', listen);
}

function listen(connection: EventEmitter): void {
  connection.on('error', () => undefined);
}
