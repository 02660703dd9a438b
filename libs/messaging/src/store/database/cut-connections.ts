import type { Duplex } from 'node:stream';
import type { DataSource } from 'typeorm';

interface Connected {
  /** Stream of a `mysql2` connection. */
  readonly stream?: Duplex;
  /** Stream of a `pg` connection. */
  readonly connection?: { readonly stream: Duplex };
}

interface ClientPool {
  readonly _clients?: readonly Connected[];
}

/**
 * The drivers' pools with all their connections: being opened, in use or idle. These members are
 * not public, so a version may lack them; then its connections end with the process.
 */
interface Pools {
  readonly master?: ClientPool;
  readonly slaves?: readonly ClientPool[];
  readonly pool?: { readonly _allConnections?: { toArray?(): readonly Connected[] } };
}

/**
 * Destroys every connection of a data source without closing it on the server; statements under way
 * fail.
 */
export function cutConnections({ driver }: DataSource): void {
  const { master, slaves = [], pool } = driver as Pools;
  const connections = [
    ...[...(master ? [master] : []), ...slaves].flatMap(({ _clients = [] }) => _clients),
    ...(pool?._allConnections?.toArray?.() ?? []),
  ];
  for (const { stream, connection } of connections)
    (stream ?? connection?.stream)?.destroy(
      Object.assign(new Error('Connection terminated: the app stops'), { code: 'ETIMEDOUT' }),
    );
}
