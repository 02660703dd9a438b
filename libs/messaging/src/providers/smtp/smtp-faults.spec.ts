import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { certificates } from '../../../../../test/support/certificates.js';
import {
  ScriptedSmtp,
  SMTP_VERBS,
  type SmtpFault,
  type SmtpVerb,
} from '../../../../../test/support/scripted-smtp.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import {
  BouncedFailure,
  DeferredFailure,
  PausedFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { Submission } from '../../ports/message-transport.js';
import { smtp, type SmtpTransport } from './smtp.transport.js';

const BATCH = '019a0f3e-7c55-7000-8000-0123456789ab';
const FAILURES = {
  bounced: BouncedFailure,
  deferred: DeferredFailure,
  paused: PausedFailure,
  uncertain: UncertainFailure,
};
type Kind = keyof typeof FAILURES | 'sent';

const CODES = [421, 450, 451, 452, 550, 552, 554] as const;
const BREAKS = ['cut', 'silence', 'drip', 'flood'] as const;
type Fault = (typeof CODES)[number] | (typeof BREAKS)[number];

/** All faults that are not named. */
interface Row extends Partial<Readonly<Record<Fault, Kind>>> {
  readonly other: Kind;
}

/** The outcome of the message after each fault at each verb (docs/email.md). */
const TABLE: Readonly<Record<SmtpVerb, Row>> = {
  GREETING: { other: 'paused' },
  EHLO: { other: 'paused' },
  STARTTLS: { other: 'paused' },
  AUTH: { other: 'paused' },
  MAIL: { other: 'paused', 552: 'bounced', ...asAll('deferred', BREAKS) },
  RCPT: { other: 'deferred', 421: 'paused', ...asAll('bounced', [550, 552, 554]) },
  DATA: { other: 'deferred', 421: 'paused', ...asAll('bounced', [550, 552, 554]) },
  DOT: {
    other: 'deferred',
    421: 'paused',
    ...asAll('bounced', [550, 552, 554]),
    ...asAll('uncertain', BREAKS),
  },
  // Only a new connection is needed.
  RSET: { other: 'sent' },
};

function asAll(kind: Kind, faults: readonly Fault[]): Partial<Record<Fault, Kind>> {
  return Object.fromEntries(faults.map((fault) => [fault, kind]));
}

const CASES = SMTP_VERBS.flatMap((verb) =>
  [...CODES, ...BREAKS].map(
    (fault) => [verb, fault, TABLE[verb][fault] ?? TABLE[verb].other] as const,
  ),
);

function kindOf(result: unknown): string {
  if (!(result instanceof Error)) return 'sent';
  const found = Object.entries(FAILURES).find(([, failure]) => result instanceof failure);
  return found?.[0] ?? result.name;
}

const faultOf = (fault: Fault): SmtpFault =>
  typeof fault === 'number'
    ? { answer: `${fault} ${`${fault}`[0]}.0.0 Scripted` }
    : { does: fault };

const submissionTo = (to: string): Submission => ({
  id: `${BATCH}-s4`,
  batchId: BATCH,
  tenant: '',
  channel: 'email',
  sender: 'shop@example.com',
  content: {
    kind: 'email',
    from: { email: 'shop@example.com' },
    subject: 'Hello',
    text: 'Confidential',
  },
  recipients: [to],
  messageIds: [`${BATCH}-7`],
  deliveryReport: true,
  attempt: 1,
  dueAt: new Date('2026-11-22T10:00:00Z'),
  firstSentAt: new Date('2026-11-22T10:00:00Z'),
});
const { signal } = new AbortController();

describe('a fault of an SMTP server', () => {
  let made: Awaited<ReturnType<typeof certificates>>;
  const stops: (() => Promise<void> | void)[] = [];
  beforeAll(async () => {
    made = await certificates({ good: { name: '127.0.0.1' } });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  async function started(tls: 'required' | 'off'): Promise<{
    readonly server: ScriptedSmtp;
    readonly submit: (to: string) => Promise<unknown>;
  }> {
    const own = made.of['good'];
    const server = await ScriptedSmtp.start({
      hasAuth: true,
      ...(tls === 'required' && own && { tls: own }),
    });
    const transport = smtp({
      url: server.url,
      tls,
      ca: made.ca,
      // Far above what a sound answer takes on a busy machine, because a time-out is an outcome here.
      timeouts: { connect: 3_000, greeting: 3_000, answer: 1_000, accept: 1_000 },
    })(transportContext()) as SmtpTransport;
    stops.push(
      () => server.close(),
      () => transport.onApplicationShutdown(),
    );
    const submit = (to: string) =>
      transport.submit(submissionTo(to), signal).catch((error: unknown) => error);
    return { server, submit };
  }

  it.each(CASES)('%s: after %s the message is %s', async (verb, fault, kind) => {
    const { server, submit } = await started(verb === 'STARTTLS' ? 'required' : 'off');
    // Only a session with a refused message is reset.
    server.fault = (at, to) =>
      at === 'RCPT' && to.startsWith('gone') ? { answer: '550 5.1.1 No such user' } : undefined;
    if (verb === 'RSET') await submit('gone@example.org');
    server.fault = (at) => (at === verb ? faultOf(fault) : undefined);
    expect(kindOf(await submit('ada@example.org'))).toBe(kind);
    expect(server.accepted).toHaveLength(kind === 'sent' ? 1 : 0);
    const isLeaked = verb === 'STARTTLS' && /AUTH|MAIL|Confidential/.test(server.plain);
    expect(isLeaked).toBe(false);
    // The next message finds a sound session.
    server.fault = () => undefined;
    expect(await submit('bob@example.org')).toMatchObject({ reference: `${BATCH}-s4` });
    expect(server.accepted.at(-1)).toMatchObject({ to: 'bob@example.org' });
  });

  it('90 refused recipients of one connection leave no listener behind', async () => {
    const connect = jest.spyOn(SMTPConnection.prototype, 'connect');
    const { server, submit } = await started('off');
    server.fault = (at) => (at === 'RCPT' ? { answer: '550 5.1.1 No such user' } : undefined);
    for (let n = 0; n < 90; n++)
      expect(await submit(`n${n}@example.org`)).toBeInstanceOf(BouncedFailure);
    const [connection, ...others] = connect.mock.contexts as SMTPConnection[];
    connect.mockRestore();
    expect(others).toEqual([]);
    expect(connection?.listenerCount('end')).toBe(1);
    expect(connection?.listenerCount('error')).toBeLessThanOrEqual(2);
  });
});
