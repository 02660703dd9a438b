import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { serve } from '../harness/worker.serve.js';

/** Reports in one callback. */
const GROUP = 500;

let references = 0;
let waiting: string[] = [];
let pumping = false;
/** Reports wait for `report`. */
let holding = false;
let awaited = 0;
let begun = 0;
let arrived: ((span: number) => void) | undefined;
/** Endpoints for reports, which take turns. */
let targets: readonly { readonly pool: Pool; readonly path: string }[] = [];
let turn = 0;
let key = Buffer.alloc(0);

/**
 * A carrier that delivers at once. It sends several reports per callback, as large carriers do: those that
 * gathered during the previous callback.
 */
const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const { to } = JSON.parse(text) as { to: string[] };
    const reference = `sink-${++references}`;
    const body = `{"status_code":200,"message":"ok","reference_id":"${reference}","recipients_processed":1}`;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
    waiting.push(
      `{"reference_id":"${reference}","message_id":"${reference}-0","to":"${to[0]}","from":"ACME","status":"delivered","error_code":null,"smsc_timestamp":"${new Date().toISOString()}","sequence":2}`,
    );
    if (awaited > 0) arrive();
    if (!pumping && !holding) void pump();
  });
});
server.keepAliveTimeout = 60_000;

/** Ends the wait of `arrivals` with the milliseconds from the first to the last. */
function arrive(): void {
  begun ||= performance.now();
  if (--awaited > 0) return;
  arrived?.(performance.now() - begun);
  begun = 0;
}

async function pump(): Promise<void> {
  pumping = true;
  for (;;) {
    const target = targets[turn++ % targets.length];
    if (!target || waiting.length === 0) break;
    const { pool, path } = target;
    const body = `[${waiting.slice(0, GROUP).join(',')}]`;
    waiting = waiting.slice(GROUP);
    const id = `msg_${references}_${waiting.length}`;
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
    const { statusCode, body: answer } = await pool.request({
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': at,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
    await answer.dump();
    if (statusCode >= 300) throw new Error(`a callback was answered ${statusCode}`);
  }
  pumping = false;
}

serve({
  start: () => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)),
  address: async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  reportTo: async ({ urls, secret }: { urls: readonly string[]; secret: string }) => {
    targets = urls.map((url) => {
      const { origin, pathname: path } = new URL(url);
      return { pool: new Pool(origin, { connections: 1 }), path };
    });
    key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  },
  /** Whether reports wait until `report`. */
  hold: async (isHeld: boolean) => {
    holding = isHeld;
  },
  /** Resolves after so many messages, with the milliseconds from the first to the last. */
  arrivals: (messages: number) => {
    awaited = messages;
    return new Promise<number>((done) => (arrived = done));
  },
  /** Sends the reports that wait. Resolves after the last answer. */
  report: () => pump(),
  stop: async () => {
    await Promise.all(targets.map(({ pool }) => pool.destroy()));
    server.closeAllConnections();
    server.close();
  },
});
