import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { certificates } from '../../../../../test/support/certificates.js';
import { MailServer } from '../../../../../test/support/mail-server.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import {
  BouncedFailure,
  DeferredFailure,
  PausedFailure,
  PermanentFailure,
  SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { Submission } from '../../ports/message-transport.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { smtp, type SmtpTransport } from './smtp.transport.js';
import type { SmtpOptions } from './smtp.options.js';

const BATCH = '019a0f3e-7c55-7000-8000-0123456789ab';
const content = {
  kind: 'email' as const,
  from: { email: 'shop@example.com', name: 'Shop' },
  subject: 'Hello',
  text: 'Hello\n.\n..end',
};
const submission = (changes: Partial<Submission> = {}): Submission => ({
  id: `${BATCH}-s4`,
  batchId: BATCH,
  tenant: '',
  channel: 'email',
  sender: 'shop@example.com',
  content,
  recipients: ['ada@example.org'],
  messageIds: [`${BATCH}-7`],
  deliveryReport: true,
  attempt: 1,
  dueAt: new Date('2026-11-22T10:00:00Z'),
  firstSentAt: new Date('2026-11-22T10:00:00Z'),
  ...changes,
});
const marketing = submission({ content: { ...content, category: 'marketing' } });
const { signal } = new AbortController();

interface UnderTest extends TransportUnderTest {
  readonly server: MailServer;
}

messageTransportContract<UnderTest>(
  'smtp',
  {
    start: async () => {
      const server = await MailServer.start();
      server.answer = (verb, to) =>
        verb === 'rcpt' && to.startsWith('gone') ? '550 5.1.1 No such user' : undefined;
      const transport = smtp({ url: server.url, tls: 'off' })(transportContext()) as SmtpTransport;
      const close = async () => {
        transport.onApplicationShutdown();
        await server.close();
      };
      return { transport, server, accepted: () => server.accepted.length, close };
    },
    changes: { channel: 'email', content },
    sender: 'shop@example.com',
    recipient: (index) => `n${index}@example.org`,
    refused: { recipients: ['gone@example.org'] },
    lostAnswer: {
      arm: ({ server }) => {
        server.losesAnswer = true;
      },
      settles: false,
    },
    pushes: false,
    polls: false,
  },
  { describe, it },
);

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function started(
  options: Partial<SmtpOptions> = {},
  server?: MailServer,
): Promise<{ readonly server: MailServer; readonly transport: SmtpTransport }> {
  const own = server ?? (await MailServer.start());
  const given = { url: own.url, tls: 'off' as const, ...options };
  const transport = smtp(given)(transportContext()) as SmtpTransport;
  open.push({
    close: async () => {
      transport.onApplicationShutdown();
      await own.close();
    },
  });
  return { server: own, transport };
}

async function failureOf(transport: SmtpTransport, of = submission()): Promise<SubmitFailure> {
  const failure: unknown = await transport.submit(of, signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(SubmitFailure);
  return failure as SubmitFailure;
}

describe('an SMTP relay', () => {
  it.each([
    ['connect', '421 4.3.2 Closing', PausedFailure],
    ['connect', '554 5.3.2 No service', PausedFailure],
    ['mail', '421 4.3.2 Closing', PausedFailure],
    ['mail', '450 4.7.1 Later', PausedFailure],
    ['mail', '550 5.7.1 Not allowed', PausedFailure],
    ['mail', '552 5.3.4 Too large', BouncedFailure],
    ['rcpt', '421 4.3.2 Closing', PausedFailure],
    ['rcpt', '450 4.7.1 Greylisted', DeferredFailure],
    ['rcpt', '550 5.1.1 No such user', BouncedFailure],
    ['rcpt', '552 5.2.2 Mailbox full', BouncedFailure],
    ['rcpt', '530 5.7.0 Authenticate first', PausedFailure],
    ['data', '421 4.3.2 Closing', PausedFailure],
    ['data', '450 4.2.0 Later', DeferredFailure],
    ['data', '550 5.7.1 Spam', BouncedFailure],
    ['data', '552 5.3.4 Too large', BouncedFailure],
  ] as const)('at %s, the answer %s is a %p', async (verb, answer, expected) => {
    for (const hidePIPELINING of [true, false]) {
      const { server, transport } = await started({}, await MailServer.start({ hidePIPELINING }));
      server.answer = (at) => (at === verb ? answer : undefined);
      expect(await failureOf(transport)).toBeInstanceOf(expected);
      expect(server.accepted).toHaveLength(0);
      server.answer = () => undefined;
      await transport.submit(submission(), signal);
      expect(server.accepted).toHaveLength(1);
    }
  });

  it('a bounce has its category, codes and text', async () => {
    const { server, transport } = await started();
    server.answer = (verb) => (verb === 'rcpt' ? '552 5.2.2 Mailbox is full' : undefined);
    expect(await failureOf(transport)).toMatchObject({
      code: '5.2.2',
      status: 'bounced',
      details: {
        category: 'mailbox_full',
        smtp_code: 552,
        enhanced_code: '5.2.2',
        diagnostic: '552 5.2.2 Mailbox is full',
        remote_mta: '127.0.0.1',
      },
    });
  });

  it.each([
    ['rcpt', '550 5.7.1 IP address blacklisted by recipient', 'block'],
    ['rcpt', '550 5.1.1 Your IP is on a block list', 'block'],
    ['rcpt', '550 5.2.1 The user is receiving mail at a rate that prevents more', 'block'],
    ['rcpt', '550 User not found', 'recipient'],
    ['rcpt', '550 5.4.1 Recipient address rejected: Access denied', 'recipient'],
    ['rcpt', '550 5.1.351 Remote server returned unknown recipient', 'recipient'],
    ['data', '550 User unknown', 'block'],
  ] as const)('at %s, the answer %s is of the category %s', async (verb, answer, category) => {
    const { server, transport } = await started();
    server.answer = (at) => (at === verb ? answer : undefined);
    expect(await failureOf(transport)).toMatchObject({ details: { category } });
  });

  it('a deferral waits longer with each attempt, up to the longest wait', async () => {
    const { server, transport } = await started({ retry: { after: '5m', most: '4h' } });
    server.answer = (verb) => (verb === 'rcpt' ? '450 4.7.1 Greylisted' : undefined);
    const waits = [];
    for (const attempt of [1, 2, 20])
      waits.push((await failureOf(transport, submission({ attempt }))).retryAfter ?? 0);
    for (const [index, minutes] of [5, 10, 240].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(minutes * 54_000);
      expect(waits[index]).toBeLessThanOrEqual(minutes * 66_000);
    }
  });

  it('a connection that is cut before the end of the message defers it', async () => {
    for (const verb of ['mail', 'rcpt'] as const) {
      const { server, transport } = await started();
      server.cutsAt = verb;
      expect(await failureOf(transport)).toBeInstanceOf(DeferredFailure);
    }
  });

  it('an answer that takes too long is uncertain after the message, and a deferral before it', async () => {
    const timeouts = { answer: 100, accept: 100 };
    for (const [verb, expected] of [
      ['rcpt', DeferredFailure],
      ['data', UncertainFailure],
    ] as const) {
      const hang = () => undefined;
      const server = await MailServer.start(
        verb === 'rcpt' ? { onRcptTo: hang } : { onData: (stream) => void stream.resume() },
      );
      const { transport } = await started({ timeouts }, server);
      expect(await failureOf(transport)).toBeInstanceOf(expected);
    }
  });

  it('an uncertain message is never repeated by default, and may be with onUncertain', async () => {
    const { transport } = await started();
    expect(transport.capabilities.idempotencyWindow).toBe(0);
    const { transport: other } = await started({ onUncertain: 'resend' });
    expect(other.capabilities.idempotencyWindow).toBeGreaterThan(0);
  });

  it('connections are reused, and one that the server has closed is replaced', async () => {
    const { server, transport } = await started();
    await transport.submit(submission(), signal);
    await transport.submit(submission(), signal);
    expect(server.connections).toBe(1);
    server.cutAll();
    await transport.submit(submission(), signal);
    expect(server.connections).toBe(2);
    expect(server.accepted).toHaveLength(3);
  });

  it('a resend has the same bytes, with Date and Message-ID of the first try', async () => {
    const { server, transport } = await started();
    await transport.submit(submission(), signal);
    await transport.submit(submission({ attempt: 2 }), signal);
    const [first, again] = server.accepted.map(({ message }) => message.toString());
    expect(again).toBe(first);
    expect(first).toContain(`\r\nMessage-ID: <${BATCH}-7@example.com>\r\n`);
    expect(first).toContain('\r\nDate: Sun, 22 Nov 2026 10:00:00 +0000\r\n');
    expect(first).toMatch(/\r\n\r\nHello\r\n\.\r\n\.\.end\r\n$/);
    expect(first).not.toMatch(/^bcc:/im);
  });

  it.each(['https://shop.example/u/1', 'http://localhost:3000/u/1'])(
    'a marketing message has the unsubscribe address %s',
    async (url) => {
      const { server, transport } = await started({ unsubscribeUrl: () => url });
      await transport.submit(marketing, signal);
      const [mail] = server.accepted;
      expect(mail?.message.toString()).toContain(`List-Unsubscribe: <${url}>`);
    },
  );

  it.each([
    ['http://shop.example/u/1', 'invalid_unsubscribe_url'],
    ['http://localhost.example/u/1', 'invalid_unsubscribe_url'],
    ['https://shop.example/<u>', 'invalid_unsubscribe_url'],
    [undefined, 'no_unsubscribe_url'],
  ])('a marketing message with the unsubscribe address %s is refused: %s', async (url, code) => {
    const options = url === undefined ? {} : { unsubscribeUrl: () => url };
    const { transport } = await started(options);
    await expect(transport.submit(marketing, signal)).rejects.toMatchObject({ code });
  });

  it('text is derived from html of any length, from its beginning', async () => {
    const { server, transport } = await started();
    const { text: _none, ...given } = content;
    const html = `<h1>Beginning</h1>${'<p>word</p>'.repeat(150_000)}`;
    await transport.submit(submission({ content: { ...given, html } }), signal);
    const message = server.accepted[0]?.message.toString() ?? '';
    expect(message).toMatch(/Content-Type: text\/plain[^]*\r\n\r\nBEGINNING\r\n[^]*\r\nword\r\n/);
  });

  it('visible recipients get the same message, each in an envelope of its own', async () => {
    const { server, transport } = await started();
    const to = [{ email: 'ada@example.org' }, { email: 'bob@example.org' }];
    for (const [n, { email }] of [...to, { email: 'hidden@example.org' }].entries()) {
      const firstSentAt = new Date(Date.UTC(2026, 10, 22, 11, n));
      const shared = { content: { ...content, to }, recipients: [email], firstSentAt };
      await transport.submit(submission(shared), signal);
    }
    expect(server.accepted.map((mail) => mail.to)).toEqual([
      ['ada@example.org'],
      ['bob@example.org'],
      ['hidden@example.org'],
    ]);
    expect(new Set(server.accepted.map(({ message }) => message.toString())).size).toBe(1);
    expect(server.accepted[0]?.message.toString()).not.toContain('hidden');
  });

  it('a server with DSN gets the return address and the parameters of the report', async () => {
    const server = await MailServer.start({ hideDSN: false });
    const verpKeys = [Buffer.alloc(32, 1).toString('base64')];
    const { transport } = await started({ verpKeys }, server);
    await transport.submit(submission(), signal);
    const [{ from, parameters }] = server.accepted as [(typeof server.accepted)[number]];
    expect(from).toMatch(/^b\+[0-9a-f]{32}-s4\.[a-z2-7]{20}@bounce\.example\.com$/);
    expect(parameters).toMatchObject({
      mail: { RET: 'HDRS', ENVID: `${BATCH}-s4` },
      rcpt: [{ NOTIFY: 'FAILURE,DELAY', ORCPT: 'rfc822;ada@example.org' }],
    });
  });

  it('a message larger than the server allows is not sent', async () => {
    const { server, transport } = await started({}, await MailServer.start({ size: 300 }));
    const failure = await failureOf(
      transport,
      submission({ content: { ...content, text: 'x '.repeat(500) } }),
    );
    expect(failure).toBeInstanceOf(PermanentFailure);
    expect(failure.code).toBe('message_too_large');
    expect(server.accepted).toHaveLength(0);
  });

  it('a non-ASCII local part needs SMTPUTF8, and is refused without', async () => {
    const of = submission({ recipients: ['用户@example.org'] });
    const without = await started({}, await MailServer.start({ hideSMTPUTF8: true }));
    expect((await failureOf(without.transport, of)).code).toBe('no_smtputf8');
    expect(without.server.accepted).toHaveLength(0);
    const { server, transport } = await started();
    await transport.submit(of, signal);
    expect(server.accepted.map(({ to }) => to)).toEqual([['用户@example.org']]);
  });

  it('refused credentials pause the provider, and their text is in no error', async () => {
    const server = await MailServer.start({
      disabledCommands: [],
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, done) =>
        done(password === 'right' ? null : new Error('Invalid'), { user: 'ada' }),
    });
    const at = server.url.slice(7);
    const { transport } = await started({ url: `smtp://ada:wrong-pass@${at}` }, server);
    const failure = await failureOf(transport);
    expect(failure).toBeInstanceOf(PausedFailure);
    expect(failure.code).toBe('unauthorized');
    expect(failure.message).not.toContain('wrong-pass');
    const { transport: right } = await started({ url: `smtp://ada:right@${at}` }, server);
    await right.submit(submission(), signal);
    expect(server.accepted).toHaveLength(1);
  });

  it('an unreachable server pauses the provider', async () => {
    const { server, transport } = await started();
    await server.close();
    expect(await failureOf(transport)).toMatchObject({ code: 'unreachable' });
  });

  it('a missing DKIM key refuses the message, and nothing is sent unsigned', async () => {
    const { server, transport } = await started({ dkim: () => undefined });
    expect((await failureOf(transport)).code).toBe('dkim_key');
    expect(server.connections).toBe(0);
  });
});

describe('TLS to an SMTP relay', () => {
  let made: Awaited<ReturnType<typeof certificates>>;
  beforeAll(async () => {
    made = await certificates({
      good: { name: '127.0.0.1' },
      expired: { name: '127.0.0.1', isExpired: true },
      other: { name: 'other.example.com' },
    });
  });

  const serverWith = (name: string, secure = false) =>
    MailServer.start({ ...made.of[name], secure, disabledCommands: [] });

  it('a message goes over TLS where the certificate is valid', async () => {
    for (const secure of [false, true]) {
      const own = await serverWith('good', secure);
      const url = secure ? own.url.replace('smtp:', 'smtps:') : own.url;
      const { server, transport } = await started({ url, tls: 'required', ca: made.ca }, own);
      await transport.submit(submission(), signal);
      expect(server.accepted.map(({ secure: isSecure }) => isSecure)).toEqual([true]);
    }
  });

  it.each(['expired', 'other', 'unknown authority'])(
    'an invalid certificate (%s) pauses the provider, and nothing is sent',
    async (name) => {
      const own = await serverWith(name === 'unknown authority' ? 'good' : name);
      const ca = name === 'unknown authority' ? undefined : made.ca;
      for (const tls of ['required', 'opportunistic'] as const) {
        const { server, transport } = await started({ tls, ...(ca && { ca }) }, own);
        expect(await failureOf(transport)).toMatchObject({ code: 'tls' });
        expect(server.accepted).toHaveLength(0);
      }
    },
  );

  it('a server without STARTTLS gets nothing where TLS is required', async () => {
    const { server, transport } = await started({ tls: 'required' });
    expect(await failureOf(transport)).toBeInstanceOf(PausedFailure);
    expect(server.accepted).toHaveLength(0);
    const { transport: other } = await started({ tls: 'opportunistic' }, server);
    await other.submit(submission(), signal);
    expect(server.accepted).toHaveLength(1);
  });

  it('a password without required TLS stops the boot, and is in no error', () => {
    for (const tls of ['off', 'opportunistic'] as const)
      expect(() => smtp({ url: 'smtp://ada:my-secret@mail.example.com', tls })).toThrow(
        /^smtp\.tls: must be 'required'(?!.*my-secret)/,
      );
  });
});
