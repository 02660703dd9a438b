import { describe } from '@jest/globals';

export type ServerName =
  | 'postgres'
  | 'mariadb'
  | 'redis'
  | 'kannel'
  | 'chromium'
  | 'slowhttptest'
  | 'faketime'
  | 'pgbouncer'
  | 'postfix'
  | 'postgrey'
  | 'dkimpy'
  | 'netsmpp';

interface Server {
  /** Empty where a suite starts it itself. */
  readonly url: string;
  /** Why its suites are skipped, where they are: `no server at 127.0.0.1:5432`. */
  readonly missing?: string;
}

/**
 * A suite that needs a server. Without the server it is skipped, and the closing report names it with
 * the reason, which it reads from the title.
 */
export function describeWithServer(
  name: ServerName,
  title: string,
  body: (url: string) => void,
): void {
  const { url, missing } = find(name);
  describeUnless(missing, `${title} on ${name}`, () => body(url));
}

/**
 * The same for a suite that starts its servers itself.
 *
 * @param missing name of the missing server, if any
 * @param title ends in `on` and the server's name
 */
export function describeUnless(missing: string | undefined, title: string, body: () => void): void {
  if (missing === undefined) describe(title, body);
  else describe.skip(`${title} — ${missing}`, body);
}

export function isThere(name: ServerName): boolean {
  return find(name).missing === undefined;
}

/** The result of the probe before the run. */
function find(name: ServerName): Server {
  const found = process.env.TEST_SERVERS;
  if (!found) throw new Error('TEST_SERVERS is not set: run the suites through jest.config.js');
  return (JSON.parse(found) as Record<ServerName, Server>)[name];
}
