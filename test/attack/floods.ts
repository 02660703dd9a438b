import { encodePdu } from '@dundun/smpp';
import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { TestDatabase } from '../support/databases.js';
import { DnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { MailServer } from '../support/mail-server.js';
import { sendMail } from '../support/send-mail.js';
import type { AttackedGateway } from './attacked-gateway.js';
import { ListReaders } from './list-readers.js';
import { RawClient } from './raw-client.js';

const IS_FULL = process.env['ATTACK'] === 'full';

const full = (size: number, short: number): number => (IS_FULL ? size : short);

const NETWORKS = full(100, 2);
const SILENT = full(1_000, 100);
/** An account has up to ten binds of each pair. */
const PAIRS = full(5, 1);
const PDUS = 4_000;
const WRITES = full(10, 2);
const READERS = full(200, 20);
const READ_FOR = full(2_000, 200);
const EMAILS = full(12, 2);
const EMAIL_TEXT = 'x'.repeat(4_800_000);
/** A session has up to ten streams, a user 20. */
const USERS = full(5, 1);
const STREAMS = 10;
const OPEN_FOR = 1_000;
const MAILS = full(20, 2);
const MAIL_OCTETS = 10_000_000;

const PASSWORD = 'a long and quiet river';
const DOMAIN = 'shop.example';
const LIST = '/ng/v1/sms?limit=100';

/** Once at its full size; it may begin again. */
type Flood = () => Promise<void>;

const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

/** A mail of an attacker, without a signature. */
const MAIL = Buffer.from(
  `From: eve@evil.example\r\nTo: ada@${DOMAIN}\r\nSubject: Hello\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(MAIL_OCTETS / 78)}`,
);

/** Floods of every kind on one gateway, from addresses and an account of attackers. */
export class Floods {
  readonly #smpp = { host: '127.0.0.1', port: 0 };
  #mailPort = 0;
  #relay: MailServer | undefined;
  #dns: DnsServer | undefined;
  readonly #pairs: { readonly systemId: string; readonly password: string }[] = [];
  readonly #cookies: string[] = [];
  /** Answers by flood and status. */
  readonly #answers = new Map<string, number>();

  constructor(private readonly gateway: AttackedGateway) {}

  /** Starts the gateway with all of its listeners, and makes what the attackers have there. */
  async start(db: TestDatabase): Promise<void> {
    this.#smpp.port = await freePort();
    this.#mailPort = await freePort();
    this.#relay = await MailServer.start();
    this.#dns = await DnsServer.start();
    await this.gateway.start(db, {
      TRUSTED_PROXIES: '127.0.0.1,::1',
      SMPP_LISTEN: `${this.#smpp.host}:${this.#smpp.port}`,
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: this.#relay.url,
      SMTP_TLS: 'off',
      EMAIL_LISTEN: `127.0.0.1:${this.#mailPort}`,
      EMAIL_DNS_SERVERS: this.#dns.address,
    });
    const account = ['--account', this.gateway.accountId];
    await this.gateway.dundun('domain', 'add', ...account, '--domain', DOMAIN);
    const source = await db.open();
    await source.query(
      `UPDATE gateway_email_domain SET status = 'verified', verified_name = '${DOMAIN}'`,
    );
    for (let n = 0; n < PAIRS; n++) {
      const made = await this.gateway.dundun('smpp', 'add', ...account);
      this.#pairs.push({ systemId: made['system_id'] ?? '', password: made['password'] ?? '' });
    }
    for (let n = 0; n < USERS; n++) await this.#user(`user${n}@${DOMAIN}`);
    for (let n = 0; n < full(100, 10); n++) await this.gateway.batch(100);
  }

  async destroy(): Promise<void> {
    await this.gateway.destroy();
    await this.#relay?.close();
    await this.#dns?.close();
  }

  /** Answers since the last call. */
  answers(): string {
    const told = [...this.#answers].map(([answer, count]) => `${count} × ${answer}`);
    this.#answers.clear();
    return told.join(', ');
  }

  #count(flood: string, status: string | number): void {
    const answer = `${flood} ${status}`;
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
  }

  /** By name, with what they have in common with others: those of one kind share connections. */
  get all(): readonly (readonly [name: string, kind: string, flood: Flood])[] {
    return [
      ['sign-ins', 'sign-ins', () => this.#signIns()],
      ['silent SMPP connections', 'smpp', () => this.#silent()],
      [
        'enquire_link',
        'smpp',
        () => this.#pdus(encodePdu({ command: 'enquire_link', sequence: 1 })),
      ],
      [
        'unknown PDUs',
        'smpp',
        () => this.#pdus(Buffer.from('00000010000badad0000000000000001', 'hex')),
      ],
      ['large contents', 'contents', () => this.#contents()],
      ['list readers', 'lists', () => this.#lists()],
      ['live streams', 'live', () => this.#live()],
      ['mails of 10 MB', 'mails', () => this.#mails()],
    ];
  }

  async #user(email: string): Promise<void> {
    const account = ['--account', this.gateway.accountId];
    const { link = '' } = await this.gateway.dundun(
      'user',
      'invite',
      ...account,
      '--role',
      'viewer',
    );
    const code = /#code=(.*)$/.exec(link)?.[1] ?? '';
    const answers = [
      await this.#portal('setup', { code, email, password: PASSWORD }),
      await this.#portal('session', { email, password: PASSWORD }),
    ];
    for (const answer of answers) {
      const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
      const cookie = cookies.find((one) => one.startsWith('dundun='));
      if (cookie === undefined) throw new Error(`a sign-in was answered ${answer.status}`);
      this.#cookies.push(cookie);
    }
  }

  #portal(path: string, body: object, from = '198.51.100.1'): Promise<Response> {
    return fetch(`${this.gateway.url}/portal/api/${path}`, {
      method: 'POST',
      headers: {
        connection: 'close',
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': from,
      },
      body: JSON.stringify(body),
    });
  }

  /** Ten wrong passwords for ten names from each network. */
  async #signIns(): Promise<void> {
    await many(NETWORKS * 10, async (n) => {
      const body = { email: `user${n % 10}@example.com`, password: 'a wrong password' };
      const answer = await this.#portal('session', body, `192.0.${Math.floor(n / 10)}.7`);
      await answer.text();
      this.#count('sign-in', answer.status);
    });
  }

  async #connect(address: string): Promise<RawClient> {
    return RawClient.connect(`tcp://${this.#smpp.host}:${this.#smpp.port}`, address);
  }

  async #silent(): Promise<void> {
    const clients: RawClient[] = [];
    for (let n = 0; n < SILENT; n++) clients.push(await this.#connect('127.0.0.3'));
    for (const client of clients) client.destroy();
  }

  /** From all binds that the account has at an address. */
  async #pdus(pdu: Buffer): Promise<void> {
    const bytes = Buffer.concat(Array.from({ length: PDUS }, () => pdu));
    const clients: RawClient[] = [];
    for (const pair of this.#pairs)
      for (let n = 0; n < 10; n++) {
        const client = await this.#connect('127.0.0.2');
        clients.push(client);
        await client.write(encodePdu({ command: 'bind_transceiver', sequence: 1, ...pair }));
        await Promise.race([client.ended, eventually(async () => hasAnswer(client), 60_000)]);
      }
    await Promise.all(
      clients.map(async (client) => {
        const length = client.answer.length + WRITES * bytes.length;
        let isOver = false;
        void client.ended.then(() => (isOver = true));
        for (let n = 0; n < WRITES && !isOver; n++) await client.write(bytes);
        while (!isOver && client.answer.length < length) await setTimeout(20);
        client.destroy();
        this.#count('bind', isOver ? 'ended' : 'answered whole');
      }),
    );
  }

  /** Scheduled, so that they stay. */
  async #contents(): Promise<void> {
    const email = JSON.stringify({
      from: `a@${DOMAIN}`,
      to: ['ada@example.com'],
      subject: 'Hello',
      text: EMAIL_TEXT,
      html: EMAIL_TEXT,
      send_at: '2150-01-01T00:00:00Z',
    });
    for (let n = 0; n < EMAILS; n++) {
      const sent = await this.gateway.call(
        'POST',
        '/email/ng/v1/messages',
        email,
        this.gateway.key,
      );
      await sent.text();
      this.#count('email', sent.status);
    }
  }

  async #lists(): Promise<void> {
    const readers = new ListReaders(this.gateway.url, [LIST], this.gateway.token, READERS);
    let isOver = false;
    const reading = readers.read(() => isOver);
    await Promise.race([reading, setTimeout(READ_FOR)]);
    isOver = true;
    await reading;
    for (const [status, count] of readers.statuses)
      for (let n = 0; n < count; n++) this.#count('list', status);
  }

  /** All streams that the account may have open. */
  async #live(): Promise<void> {
    await many(this.#cookies.length * STREAMS, async (n) => {
      const headers = { cookie: this.#cookies[n % this.#cookies.length] };
      const options = { agent: false, headers };
      await new Promise<void>((resolve, reject) => {
        const asked = request(`${this.gateway.url}/portal/api/live`, options, (response) => {
          this.#count('stream', response.statusCode ?? 0);
          response.resume().once('close', resolve);
          setTimeout(OPEN_FOR).then(() => asked.destroy(), reject);
        });
        asked.once('error', () => resolve()).end();
      });
    });
  }

  async #mails(): Promise<void> {
    await many(MAILS, async (n) => {
      const answer = await sendMail({
        port: this.#mailPort,
        from: 'eve@evil.example',
        to: `ada@${DOMAIN}`,
        raw: MAIL,
        localAddress: `127.0.1.${1 + (n % 4)}`,
      }).catch((error: Error) => error.message);
      this.#count('mail', answer);
    });
  }
}

function hasAnswer(client: RawClient): void {
  if (client.answer === '') throw new Error('the bind is not answered');
}
