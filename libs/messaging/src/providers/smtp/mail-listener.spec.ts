import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
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
    const authenticate = ({ raw, from }: UnprovenMail) =>
      from === 'ada@example.org' && raw.includes('X-Proof: yes');
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
