import { afterEach, expect, it } from '@jest/globals';
import {
  type DeliveryReport,
  DeferredFailure,
  PausedFailure,
  SubmitFailure,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { smtp, type SmtpOptions } from '@dundun/messaging/smtp';
import type { SmtpTransport } from '../../../libs/messaging/src/providers/smtp/smtp.transport.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { MailServer } from '../../support/mail-server.js';
import { describeWithServer } from '../../support/servers.js';
import { transportContext } from '../../support/transport-context.js';
import { Postfix, postgrey, smtpSink } from './postfix.js';

const BATCH = '019a0f3e-7c55-7000-8000-0123456789ab';
const KEY = Buffer.alloc(32, 1).toString('base64');
const { signal } = new AbortController();

const submission = (to: string, n = 0) => ({
  id: `${BATCH}-s${n}`,
  batchId: BATCH,
  tenant: '',
  channel: 'email',
  sender: 'shop@example.com',
  content: {
    kind: 'email' as const,
    from: { email: 'shop@example.com' },
    subject: 'Hello',
    text: 'Hello',
  },
  recipients: [to],
  deliveryReport: true,
  attempt: 1,
  dueAt: new Date(),
  firstSentAt: new Date(),
});

const started: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of started.splice(0).reverse()) await stop();
});

function transportTo(url: string, options: Partial<SmtpOptions> = {}): SmtpTransport {
  const transport = smtp({ url, tls: 'off', ...options })(transportContext()) as SmtpTransport;
  started.push(async () => {
    await transport.beforeApplicationShutdown();
    transport.onApplicationShutdown();
  });
  return transport;
}

async function sink(...options: string[]): Promise<string> {
  const { url, close } = await smtpSink(...options);
  started.push(close);
  return url;
}

const answerOf = (transport: SmtpTransport, to = 'ada@example.org') =>
  transport.submit(submission(to), signal).catch((error: unknown) => error);

describeWithServer('postfix', 'smtp transport against smtp-sink', () => {
  it.each([
    ['the answer lost after the final dot', ['-q', '.'], UncertainFailure],
    ['the connection lost at DATA', ['-q', 'data'], DeferredFailure],
    ['the connection lost at RCPT', ['-q', 'rcpt'], DeferredFailure],
    ['RCPT refused for now', ['-r', 'rcpt'], DeferredFailure],
    ['RCPT refused', ['-f', 'rcpt'], SubmitFailure],
    ['the message refused for now', ['-r', '.'], DeferredFailure],
    ['MAIL refused', ['-f', 'mail'], PausedFailure],
  ] as const)('%s', async (_, options, expected) => {
    const url = await sink(...options);
    const transport = transportTo(url);
    await eventually(async () => {
      const answer = await answerOf(transport);
      expect((answer as SubmitFailure).code).not.toBe('unreachable');
      expect(answer).toBeInstanceOf(expected);
    });
  });
});

describeWithServer('postfix', 'smtp transport through a relay that reports', () => {
  it('a notification of Postfix bounces its message, and a delivery is reported where asked', async () => {
    const port = await freePort();
    const remote = await MailServer.start();
    started.push(() => remote.close());
    remote.answer = (verb, to) =>
      verb === 'rcpt' && to.startsWith('gone') ? '550 5.1.1 No such user' : undefined;
    const postfix = await Postfix.start({
      'example.org': `[127.0.0.1]:${remote.port}`,
      'bounce.example.com': `[127.0.0.1]:${port}`,
    });
    started.push(() => postfix.stop());
    const transport = transportTo(postfix.url, {
      verpKeys: [KEY],
      dsn: 'all',
      listener: { port, host: '127.0.0.1' },
    });
    const reports: DeliveryReport[] = [];
    await transport.listen?.(async (all) => void reports.push(...all));
    for (const [n, to] of ['gone@example.org', 'ada@example.org'].entries())
      await transport.submit(submission(to, n), signal);
    await eventually(async () => expect(reports).toHaveLength(2));
    const byId = new Map(reports.map((report) => [report.submissionId, report]));
    expect(byId.get(`${BATCH}-s0`)).toMatchObject({
      status: 'bounced',
      recipient: 'gone@example.org',
      errorCode: '5.1.1',
      details: { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' },
    });
    expect(byId.get(`${BATCH}-s1`)).toMatchObject({ recipient: 'ada@example.org' });
    expect(['delivered', null]).toContain(byId.get(`${BATCH}-s1`)?.status);
  });
});

describeWithServer('postgrey', 'smtp transport to a greylisting server', () => {
  it('a greylisted message waits and is accepted later', async () => {
    const grey = await postgrey(1);
    started.push(() => grey.close());
    const remote = await MailServer.start();
    started.push(() => remote.close());
    const routes = { 'example.org': `[127.0.0.1]:${remote.port}` };
    const postfix = await Postfix.start(routes, { policy: grey.port });
    started.push(() => postfix.stop());
    const transport = transportTo(postfix.url);
    const refusals: unknown[] = [];
    await eventually(async () => {
      const answer = await answerOf(transport);
      if (answer instanceof Error) refusals.push(answer);
      expect(answer).toMatchObject({ reference: `${BATCH}-s0` });
    });
    expect(refusals[0]).toBeInstanceOf(DeferredFailure);
    await eventually(async () => expect(remote.accepted.length).toBeGreaterThan(0));
  });
});
