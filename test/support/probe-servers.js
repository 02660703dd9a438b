import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

/** Milliseconds; long, so that a slow server does not count as missing. */
const PATIENCE = 30_000;

/**
 * The servers that suites may ask for: where they are unless the environment says otherwise, and how
 * to see that one answers.
 */
const SERVERS = {
  postgres: {
    url: process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
    port: 5432,
    async probe(url) {
      const client = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: PATIENCE,
      });
      client.on('error', () => undefined);
      await client.connect();
      await client.end();
    },
  },
  mariadb: {
    url: process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306',
    port: 3306,
    async probe(url) {
      const connection = await createConnection({ uri: url, connectTimeout: PATIENCE });
      await connection.end();
    },
  },
  redis: {
    url: process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379',
    port: 6379,
    probe: (url, port) =>
      new Promise((resolve, reject) => {
        const { hostname } = new URL(url);
        const socket = connect({ host: hostname, port, timeout: PATIENCE });
        socket.once('connect', () => resolve(socket.destroy()));
        socket.once('timeout', () => reject(socket.destroy()));
        socket.once('error', reject);
      }),
  },
  // The suites start Kannel themselves and need its programs only.
  kannel: {
    programs: ['/usr/sbin/bearerbox', '/usr/sbin/smsbox', '/usr/lib/kannel/test/fakesmsc'],
  },
  chromium: { programs: ['/usr/bin/chromium'] },
  slowhttptest: { programs: ['/usr/bin/slowhttptest'] },
  faketime: { programs: ['/usr/bin/faketime'] },
  pgbouncer: { programs: ['/usr/sbin/pgbouncer'] },
  postfix: { programs: ['/usr/sbin/postfix', '/usr/sbin/smtp-sink'] },
  postgrey: { programs: ['/usr/sbin/postgrey'] },
  netsmpp: { programs: ['/usr/bin/perl', '/usr/share/perl5/Net/SMPP.pm'] },
  dkimpy: {
    programs: [
      '/usr/bin/python3',
      '/usr/lib/python3/dist-packages/dkim/__init__.py',
      '/usr/lib/python3/dist-packages/nacl/__init__.py',
    ],
  },
};

const UNREACHABLE = new Set(['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND']);

/** `undefined` where the server answers, else why its suites are skipped. */
async function missing({ url, port: usual, probe, programs }) {
  if (programs) {
    const absent = programs.find((program) => !existsSync(program));
    return absent && `${absent} is not installed`;
  }
  const { hostname, port } = new URL(url);
  const address = `${hostname}:${port || usual}`;
  try {
    await probe(url, Number(port || usual));
    return undefined;
  } catch (error) {
    const code = error?.code ?? error?.errors?.[0]?.code;
    return code === undefined || UNREACHABLE.has(code)
      ? `no server at ${address}`
      : `the server at ${address} refuses (${code})`;
  }
}

/** Every server by name: its `url` and, where it does not answer, why it is `missing`. */
export async function findServers() {
  const found = Object.entries(SERVERS).map(async ([name, server]) => [
    name,
    { url: server.url ?? '', missing: await missing(server) },
  ]);
  return Object.fromEntries(await Promise.all(found));
}

/**
 * Once per run, before any suite: which servers are there. The answer travels in the environment,
 * which the workers inherit, so that a suite knows it while it is being described.
 */
export default async function probeServers() {
  process.env.TEST_SERVERS = JSON.stringify(await findServers());
}
