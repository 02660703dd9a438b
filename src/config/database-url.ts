import { parsedUrl } from '@dundun/messaging/values';
export type DatabaseUrl =
  | { readonly type: 'sqlite'; readonly path: string }
  | { readonly type: 'postgres' | 'mysql' | 'mariadb'; readonly url: string };

const SERVERS: Readonly<Record<string, 'postgres' | 'mysql' | 'mariadb'>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mariadb',
};

/** @throws Error with the remedy; it never contains the value, which may hold a password */
export function parseDatabaseUrl(value: string): DatabaseUrl {
  if (value.startsWith('sqlite:')) return { type: 'sqlite', path: sqlitePath(value.slice(7)) };
  const url = parsedUrl(value);
  const type = url && SERVERS[url.protocol];
  if (!type)
    throw new Error(
      'is no database address; write sqlite:PATH, postgres://user:password@host:5432/name, mysql://user:password@host:3306/name or mariadb://…',
    );
  if (url.hostname === '' || url.pathname.length < 2)
    throw new Error(`names no host or no database; write ${url.protocol}//user:password@host/name`);
  return { type, url: value };
}

function sqlitePath(path: string): string {
  if (path === '') throw new Error('names no file; write sqlite:data/dundun.sqlite');
  if (path.includes(':memory:'))
    throw new Error('an in-memory database is lost with the process; write sqlite:PATH of a file');
  if (path.startsWith('//') && !path.startsWith('///'))
    throw new Error(
      'write sqlite:PATH without slashes that name a host, such as sqlite:data/dundun.sqlite',
    );
  return path.startsWith('///') ? path.slice(2) : path;
}
