import type { Duplex } from 'node:stream';
import type { DataSource } from 'typeorm';

interface Connected {
  /** `mysql2`'s. */
  readonly stream?: Duplex;
  /** `pg`'s. */
  readonly connection?: { readonly stream: Duplex };
}

interface ClientPool {
  readonly _clients?: readonly Connected[];
}

/**
 * The drivers' pools, whatever their connections are doing: being made, at work or idle. None of it is
 * published, so that a version may have it otherwise: those connections end with the process.
 */
interface Pools {
  readonly master?: ClientPool;
  readonly slaves?: readonly ClientPool[];
  readonly pool?: { readonly _allConnections?: { toArray?(): readonly Connected[] } };
}

/** Ends every connection of a data source without a word to the server: what waits for one fails. */
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
