import { describe, expect, it } from '@jest/globals';
import type { EmailContent } from '../../../libs/messaging/src/message/content/email-content.js';
import type {
  MessageTransport,
  Submission,
  TransportFactory,
} from '../../../libs/messaging/src/ports/message-transport.js';
import {
  messageTransportContract,
  type TransportSetup,
  type TransportUnderTest,
} from '../../../libs/messaging/src/testing/index.js';
import { HTTP_WAYS, transportContext } from '../transport-context.js';
import type { ProviderServer } from './provider-server.js';

export interface ProviderUnderTest<S> extends TransportUnderTest {
  readonly transport: MessageTransport & { onApplicationShutdown(): Promise<void> };
  readonly server: S;
}

type Differences<S> = Pick<TransportSetup<ProviderUnderTest<S>>, 'refused' | 'polls'> &
  Partial<TransportSetup<ProviderUnderTest<S>>>;

/** A double with a transport to it. */
export async function openProvider<S extends ProviderServer<unknown>>(
  server: S,
  factoryOf: (server: S) => TransportFactory,
  http = HTTP_WAYS[0]![1],
): Promise<ProviderUnderTest<S>> {
  await server.listen();
  const transport = factoryOf(server)(
    transportContext({ http: http() }),
  ) as ProviderUnderTest<S>['transport'];
  return {
    transport,
    server,
    accepted: () => server.taken.length,
    close: async () => {
      await transport.onApplicationShutdown();
      await server.close();
    },
  };
}

/** The contract of transports, on a provider without keys, by both ways of the HTTP client. */
export function providerContract<S extends ProviderServer<unknown>>(
  name: string,
  serverOf: () => S,
  factoryOf: (server: S) => TransportFactory,
  differences: Differences<S>,
): void {
  for (const [way, http] of HTTP_WAYS)
    messageTransportContract<ProviderUnderTest<S>>(
      `${name} ${way}`,
      {
        start: () => openProvider(serverOf(), factoryOf, http),
        sender: '2348000000001',
        recipient: (index) => String(2348012340000 + index),
        proxyAnswer: ({ server }, answer, when) => server.answerAsProxy(answer, when),
        lostAnswer: { arm: ({ server }) => server.loseNextAnswer(), settles: false },
        pushes: false,
        ...differences,
      },
      { describe, it },
    );
}

const EMAIL: EmailContent = {
  kind: 'email',
  from: { email: 'shop@example.com', name: 'Shop' },
  subject: 'Hello',
  text: 'Hello, Ada',
};

/** {@link providerContract} of a provider of email. */
export function mailContract<S extends ProviderServer<unknown>>(
  name: string,
  serverOf: () => S,
  factoryOf: (server: S) => TransportFactory,
  differences: Partial<Differences<S>> = {},
): void {
  providerContract(name, serverOf, factoryOf, {
    sender: EMAIL.from.email,
    recipient: (index) => `ada${index}@example.org`,
    changes: { channel: 'email', content: EMAIL },
    refused: { recipients: ['refused@example.org'] },
    polls: false,
    ...differences,
  });
}

/**
 * Each wrong option is named by its error, with the name of the factory; the error has no value of it.
 * @param valid all that `factory` needs
 * @param wrong the option that the error names, and the options in place of valid ones; secrets
 * contain `hunter2`
 */
export function namesWrongOptions(
  factory: (options: never) => unknown,
  valid: object,
  wrong: readonly (readonly [option: string, options: object])[],
): void {
  it.each(wrong)('a wrong %s is named without its value', (option, options) => {
    // The types of some are wrong, too.
    const create = () => factory({ ...valid, ...options } as never);
    expect(create).toThrow(new RegExp(`^${factory.name}\\.${option}: `));
    expect(create).not.toThrow(/hunter2/);
  });
}

/** A submission of an email; `content` changes that of its batch. */
export function emailTo(
  recipients: readonly string[],
  content: Partial<EmailContent> = {},
  changes: Partial<Submission> = {},
): Submission {
  return smsTo(recipients, {
    channel: 'email',
    sender: EMAIL.from.email,
    content: { ...EMAIL, ...content },
    ...changes,
  });
}

export const BATCH = '01993021-0000-7000-8000-000000000000';

export function smsTo(
  recipients: readonly string[],
  changes: Partial<Submission> = {},
): Submission {
  return {
    id: `${BATCH}-s0`,
    batchId: BATCH,
    tenant: '',
    channel: 'sms',
    sender: '2348000000001',
    content: { kind: 'text', text: 'Hi & bye' },
    recipients,
    deliveryReport: true,
    attempt: 1,
    firstSentAt: new Date('2026-01-01T00:00:00Z'),
    dueAt: new Date('2026-01-01T00:00:00Z'),
    ...changes,
  };
}
