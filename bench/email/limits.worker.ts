import { createPrivateKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { createTransport, type Transporter } from 'nodemailer';
import PostalMime from 'postal-mime';
import { inFlight } from '../harness/in.flight.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';
import { DOMAIN, filled, FROM, HTML, type Keys, SUBJECT, TEXT } from './campaign.js';

export interface LimitsStart {
  readonly sink: string;
  readonly keys: Keys;
  readonly connections: number;
}

/** Canonical header of a message with ten fields. */
const HEADER = Buffer.alloc(900, 'x');
const WIDTH = 64;

const signed = promisify(sign);
let plain: Transporter;
let dkim: Transporter;
let own: LimitsStart;

/** Measures this machine's limits without the library: nodemailer's pool, signing, and parsing. */
serve({
  start: async (options: LimitsStart) => {
    own = options;
    const { hostname: host, port } = new URL(options.sink);
    const pool = {
      host,
      port: Number(port),
      pool: true as const,
      ignoreTLS: true,
      maxConnections: options.connections,
      maxMessages: Infinity,
    };
    plain = createTransport(pool);
    dkim = createTransport({
      ...pool,
      dkim: { domainName: DOMAIN, keySelector: 'r1', privateKey: options.keys.rsa },
    });
  },
  plain: (count: number) => through(plain, count),
  dkim: (count: number) => through(dkim, count),
  /** Both signatures of a message, in the thread pool. */
  sign: async (count: number): Promise<Count> => {
    const [rsa, ed25519] = [createPrivateKey(own.keys.rsa), createPrivateKey(own.keys.ed25519)];
    return timed(count, async () => {
      await Promise.all([signed('sha256', HEADER, rsa), signed(null, HEADER, ed25519)]);
    });
  },
  parse: async (messages: readonly string[]): Promise<Count> =>
    timed(messages.length, async (n) => {
      await PostalMime.parse(messages[n] as string);
    }),
  stop: async () => {
    plain.close();
    dkim.close();
  },
});

function through(transporter: Transporter, count: number): Promise<Count> {
  return timed(count, (n) =>
    transporter.sendMail({
      from: FROM,
      to: `p${n}@customers.example`,
      subject: filled(SUBJECT, n),
      text: filled(TEXT, n),
      html: filled(HTML, n),
    }),
  );
}

async function timed(count: number, work: (index: number) => Promise<unknown>): Promise<Count> {
  const begun = performance.now();
  await inFlight(count, WIDTH, work);
  return { count, ms: performance.now() - begun };
}
