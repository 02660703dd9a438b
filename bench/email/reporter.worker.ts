import { once } from 'node:events';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { inFlight } from '../harness/in.flight.js';
import { moment } from '../harness/moment.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';

export interface Delivery {
  readonly port: number;
  /** Return addresses, one report each. */
  readonly senders: readonly string[];
  /** Ends the delivery, in milliseconds. @default all are delivered */
  readonly ms?: number;
}

export interface Intake extends Count {
  /** When each report that was accepted began and was answered, in milliseconds: the listener counted it between the two. */
  readonly at: readonly (readonly [begun: number, answered: number])[];
}

const CONNECTIONS = 10;
/** Milliseconds until a report that is told to come later is tried again. */
const LATER = 5;

/** Servers that report failures: each report is repeated until it is taken. */
serve({
  start: async () => undefined,
  texts: async (count: number): Promise<readonly string[]> =>
    Array.from({ length: count }, () => REPORT),
  deliver: async ({ port, senders, ms = Infinity }: Delivery): Promise<Intake> => {
    const open: SMTPConnection[] = [];
    for (let n = 0; n < CONNECTIONS; n++) open.push(await connected(port));
    const begun = moment();
    const at: [number, number][] = [];
    const free = [...open];
    await inFlight(senders.length, CONNECTIONS, async (n) => {
      const connection = free.pop() as SMTPConnection;
      while (moment() - begun < ms) {
        const began = moment();
        if (await isTaken(connection, senders[n] as string)) {
          at.push([began, moment()]);
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, LATER));
      }
      free.push(connection);
    });
    const took = moment() - begun;
    for (const connection of open) connection.quit();
    return { count: at.length, ms: took, at };
  },
  stop: async () => undefined,
});

async function connected(port: number): Promise<SMTPConnection> {
  const connection = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true });
  connection.connect();
  await once(connection, 'connect');
  return connection;
}

/** @throws where the report is refused for good */
function isTaken(connection: SMTPConnection, to: string): Promise<boolean> {
  return new Promise((resolve, reject) =>
    connection.send({ from: '', to: [to] }, REPORT, (error) => {
      if (!error) return resolve(true);
      if (!error.response?.startsWith('451')) return reject(error);
      return connection.reset(() => resolve(false));
    }),
  );
}

/** As Postfix writes it, with the header of the message that came back. */
const REPORT = [
  'From: MAILER-DAEMON@mx.customers.example (Mail Delivery System)',
  'Subject: Undelivered Mail Returned to Sender',
  'Auto-Submitted: auto-replied',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain; charset=us-ascii',
  '',
  ...Array.from({ length: 12 }, () => 'Your message could not be delivered to its recipient.'),
  '',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.customers.example',
  'Arrival-Date: Sun, 22 Nov 2026 10:00:00 +0000 (UTC)',
  '',
  'Final-Recipient: rfc822; ada@customers.example',
  'Action: failed',
  'Status: 5.2.2',
  'Remote-MTA: dns; mx.customers.example',
  'Diagnostic-Code: smtp; 552 5.2.2 Mailbox is full',
  '',
  '--b',
  'Content-Type: text/rfc822-headers',
  '',
  ...Array.from({ length: 15 }, (_, n) => `X-Header-${n}: ${'x'.repeat(60)}`),
  '',
  '--b--',
  '',
].join('\r\n');
