import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from '../../../../../test/support/eventually.js';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { MailServer, type ReceivedMail } from '../../../../../test/support/mail-server.js';
import { sendMail } from '../../../../../test/support/send-mail.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { MessagingConfigError } from '../../message/errors.js';
import type { DeliveryReport, InboundMessage } from '../../message/events.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { smtp, type SmtpTransport } from './smtp.transport.js';
import type { ListenerOptions, UnprovenMail } from './smtp.options.js';
import { Verp } from './verp.js';

const KEY = Buffer.alloc(32, 1);
const verp = new Verp([KEY]);
const SUBMISSION = '019a0f3e-7c55-7000-8000-0123456789ab-s4';
const RETURN = verp.addressOf(SUBMISSION, 'bounce.example.com') as string;
const content = {
  kind: 'email' as const,
  from: { email: 'shop@example.com' },
  subject: 'Hello',
  text: 'Hello',
};

function listening(url: string, listener: Partial<ListenerOptions> = {}): SmtpTransport {
  return smtp({
    url,
    tls: 'off',
    verpKeys: [KEY.toString('base64')],
    listener: { port: 0, host: '127.0.0.1', ...listener },
  })(transportContext()) as SmtpTransport;
}

function dsn(action: string, to: string): string {
  return [
    'Date: Sun, 22 Nov 2026 10:05:00 +0000',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; relay.example.com',
    '',
    `Original-Recipient: rfc822;${to}`,
    `Final-Recipient: rfc822; ${to}`,
    `Action: ${action}`,
    `Status: ${action === 'failed' ? '5.1.1' : '2.0.0'}`,
    '--b--',
    '',
  ].join('\r\n');
}

interface UnderTest extends TransportUnderTest {
  readonly server: MailServer;
}

messageTransportContract<UnderTest>(
  'smtp with a listener',
  {
    start: async () => {
      const server = await MailServer.start();
      const transport = listening(server.url);
      let isClosed = false;
      // A server repeats a mail that was not acknowledged.
      const deliver = async ({ from, to: [to = ''] }: ReceivedMail) => {
        const raw = dsn('delivered', to);
        for (let answer = ''; !isClosed && !answer.startsWith('250');) {
          const port = transport.listenerPort;
          if (port !== undefined) answer = await sendMail({ port, to: from, raw });
          await pause(5);
        }
      };
      server.answer = (verb, to) =>
        verb === 'rcpt' && to.startsWith('gone') ? '550 5.1.1 No such user' : undefined;
      server.onAccepted = (mail) => void deliver(mail).catch(() => undefined);
      const close = async () => {
        isClosed = true;
        await transport.beforeApplicationShutdown();
        transport.onApplicationShutdown();
        await server.close();
      };
      return { transport, server, accepted: () => server.accepted.length, close };
    },
    changes: { channel: 'email', content },
    sender: 'shop@example.com',
    recipient: (index) => `n${index}@example.org`,
    most: 1,
    refused: { recipients: ['gone@example.org'] },
    pushes: true,
    polls: false,
  },
  { describe, it },
);

describe('the listener for mail', () => {
  let transport: SmtpTransport;
  let reports: DeliveryReport[];
  let messages: InboundMessage[];
  let fails: boolean;

  beforeEach(() => {
    [reports, messages, fails] = [[], [], false];
  });
  afterEach(() => transport.beforeApplicationShutdown());

  async function start(listener: Partial<ListenerOptions> = {}): Promise<number> {
    transport = listening('smtp://127.0.0.1:9', listener);
    await transport.listen?.(
      async (all) => {
        if (fails) throw new Error('The store is away');
        reports.push(...all);
      },
      async (all) => void messages.push(...all),
    );
    return transport.listenerPort as number;
  }

  it('a report is acknowledged after it is recorded, and refused for now before', async () => {
    const port = await start();
    const mail = { port, to: RETURN, raw: dsn('failed', 'ada@example.org') };
    fails = true;
    expect(await sendMail(mail)).toMatch(/^451 4\.3\.0/);
    fails = false;
    expect(await sendMail(mail)).toMatch(/^250/);
    expect(reports).toMatchObject([{ submissionId: SUBMISSION, status: 'bounced' }]);
  });

  it('mail for other addresses is not taken, in whatever form they are written', async () => {
    const port = await start({
      inboundDomains: ['in.example.com'],
      complaints: ['fbl@example.com'],
    });
    const raw = dsn('failed', 'ada@example.org');
    for (const to of [
      'ada@example.org',
      RETURN.replace('-s4', '-s5'),
      'eve%evil.com@in.example.org',
      '"eve@evil.com"@in.example.com',
      'eve@evil.com@in.example.com',
      '@in.example.com:eve@evil.com',
    ])
      expect(await sendMail({ port, to, raw })).toMatch(/^5\d\d /);
    expect(reports).toEqual([]);
    expect(await sendMail({ port, to: 'FBL@example.com', raw })).toMatch(/^250/);
    expect(reports).toEqual([]);
  });

  it('an inbound mail is a message, and its words count only with proof of its sender', async () => {
    const authenticate = ({ head, from }: UnprovenMail) =>
      from === 'ada@example.org' && head.includes('X-Proof: yes');
    const port = await start({
      inboundDomains: (domain) => domain === 'in.example.com',
      authenticate,
    });
    const mail = (extra: string) =>
      `From: Ada <ada@Example.org>\r\nMessage-ID: <1${extra.length}@example.org>\r\n${extra}\r\nSTOP\r\n`;
    for (const extra of ['', 'X-Proof: yes\r\n'])
      await sendMail({ port, from: 'x@example.net', to: 'hello@in.example.com', raw: mail(extra) });
    expect(messages).toMatchObject([
      { channel: 'email', from: 'ada@example.org', to: 'hello@in.example.com', authentic: false },
      { text: expect.stringMatching(/^STOP\s*$/), authentic: true },
    ]);
    expect(messages[0]?.messageId).not.toBe(messages[1]?.messageId);
  });

  it('sizes are bounded: a report is read from its start, a larger message is refused', async () => {
    const port = await start({ inboundDomains: ['in.example.com'], maxSize: 100_000 });
    const long = 'x'.repeat(70).concat('\r\n').repeat(10_000);
    const raw = dsn('failed', 'ada@example.org') + long;
    expect(await sendMail({ port, to: RETURN, raw })).toMatch(/^250/);
    expect(reports).toHaveLength(1);
    const large = `From: ada@example.org\r\n\r\n${long}`;
    expect(await sendMail({ port, to: 'a@in.example.com', raw: large })).toMatch(/^552 /);
    expect(messages).toEqual([]);
  });

  it('no window has more mails than the limit, and no address more connections', async () => {
    const port = await start({ rateLimit: { max: 3, per: '1m' }, connectionsPerAddress: 2 });
    const mail = { port, to: RETURN, raw: dsn('failed', 'ada@example.org') };
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push((await sendMail(mail)).slice(0, 3));
    expect(answers).toEqual(['250', '250', '250', '451', '451']);
    const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    const third = connect(port, '127.0.0.1');
    const [greeting] = (await once(third, 'data')) as [Buffer];
    expect(greeting.toString()).toMatch(/^421 /);
    for (const socket of [...sockets, third]) socket.destroy();
  });

  it('a return address counts at a return host and at the name of this server alone', async () => {
    const port = await start({ name: 'mx.example.com' });
    const raw = dsn('failed', 'ada@example.org');
    const at = (host: string) => RETURN.replace(/@.*/, `@${host}`);
    for (const host of ['bounce.evil.example', 'BOUNCE.example.com', 'mx.example.com'])
      expect(await sendMail({ port, to: at(host), raw })).toMatch(/^250/);
    for (const host of ['example.com', 'xbounce.example.com', 'bounce', 'evil.example'])
      expect(await sendMail({ port, to: at(host), raw })).toMatch(/^550 5\.7\.1/);
  });

  it('the mails of one address leave the limit of another one alone', async () => {
    const port = await start({ rateLimit: { max: 2, per: '1m' } });
    const raw = dsn('failed', 'ada@example.org');
    const from = (localAddress: string) => sendMail({ port, to: RETURN, raw, localAddress });
    const flood = [];
    for (let n = 0; n < 4; n++) flood.push((await from('127.0.0.2')).slice(0, 3));
    expect(flood).toEqual(['250', '250', '451', '451']);
    expect(await from('127.0.0.3')).toMatch(/^250/);
  });

  /** Begins a mail to an inbound domain and sends these octets of it. */
  async function begin(port: number, octets: Buffer): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    const lines = createInterface(socket);
    const [first] = (await once(lines, 'line')) as [string];
    expect(first).toMatch(/^220/);
    socket.write('HELO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<a@in.example.com>\r\nDATA\r\n');
    for await (const line of lines) if (line.startsWith('354')) break;
    await new Promise((resolve) => socket.write(octets, resolve));
    return socket;
  }

  const to = 'a@in.example.com';
  const large = (size: number, filling = `${'x'.repeat(98)}\r\n`) =>
    Buffer.concat([
      Buffer.from('From: ada@example.org\r\n\r\nSTOP\r\n'),
      Buffer.alloc(size, filling),
    ]);

  it('mails in hand take at most 64 MiB of memory, and those whose connection is lost take none', async () => {
    const port = await start({
      inboundDomains: ['in.example.com'],
      rateLimit: '1000/s',
      connectionsPerAddress: 1_000,
    });
    const mail = { port, to, raw: large(280_000, 'x') };
    // More than the limit: those that were refused leave less room than one more mail takes.
    const begun = Array.from({ length: 320 }, () => begin(port, large(280_000, 'x')));
    const sockets = await Promise.all(begun);
    await eventually(async () => expect(await sendMail(mail)).toMatch(/^452 4\.3\.1/));
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect(await sendMail(mail)).toMatch(/^250/));
    // 90 MB through one process.
  }, 120_000);

  it('the proof of a sender reads the whole mail in pieces, each in a turn of the event loop', async () => {
    let turn = 0;
    const turns: number[] = [];
    const read: Buffer[] = [];
    const port = await start({
      inboundDomains: ['in.example.com'],
      authenticate: async ({ raw }) => {
        for await (const piece of raw) {
          turns.push(turn);
          read.push(piece);
        }
        return true;
      },
    });
    let isOver = false;
    const counting = (async () => {
      for (; !isOver; turn++) await new Promise(setImmediate);
    })();
    const raw = large(1_000_000);
    const lines = Buffer.concat([large(0), Buffer.alloc(30_000, '\r\n')]);
    const mails = [raw, raw, lines].map((one) => sendMail({ port, to, raw: one }));
    for (const answer of await Promise.all(mails)) expect(answer).toMatch(/^250/);
    isOver = true;
    await counting;
    expect(new Set(turns).size).toBe(turns.length);
    const sizes = read.map(({ length }) => length);
    expect(sizes.reduce((sum, length) => sum + length)).toBe(2 * raw.length + lines.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
    const linesOf = (piece: Buffer) => piece.toString().split('\n').length - 1;
    expect(Math.max(...read.map(linesOf))).toBe(1_000);
    expect(messages.map(({ authentic }) => authentic)).toEqual([true, true, true]);
  });

  it('a mail is answered after all of it has arrived, whether its proof reads it, fails or does not', async () => {
    let proof: (mail: UnprovenMail) => Promise<boolean> = () => Promise.resolve(false);
    const port = await start({
      inboundDomains: ['in.example.com'],
      authenticate: (mail) => proof(mail),
    });
    const raw = large(2_000_000);
    expect(await sendMail({ port, to, raw })).toMatch(/^250/);
    proof = async (mail) => {
      for await (const piece of mail.raw) if (piece.length > 0) break;
      throw new Error('DNS is away');
    };
    expect(await sendMail({ port, to, raw })).toMatch(/^451/);
    let hasFailed = false;
    proof = async (mail) => {
      try {
        for await (const piece of mail.raw) expect(piece.length).toBeGreaterThan(0);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
      return true;
    };
    const socket = await begin(port, raw);
    socket.destroy();
    await eventually(async () => expect(hasFailed).toBe(true));
    expect(messages).toMatchObject([{ authentic: false }]);
  });

  it('a connection that lasts too long is closed, also while it sends', async () => {
    const port = await start({ sessionTimeout: 200 });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const drip = setInterval(() => socket.write('x'), 20);
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(drip);
    expect(socket.destroyed).toBe(true);
  });

  it('a listener without keys of return addresses stops the boot', async () => {
    await start();
    expect(() => smtp({ url: 'smtp://127.0.0.1', tls: 'off', listener: { port: 0 } })).toThrow(
      MessagingConfigError,
    );
  });
});
