import type { TransportFactory } from '@dundun/messaging';
import {
  type MessageTransport,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  type Submission,
  type SubmissionAccepted,
  UncertainFailure,
} from '@dundun/messaging/ports';

/** Acme's API: `POST /messages` with an idempotency key that it honours for a day. */
export interface AcmeOptions {
  readonly url: string;
  readonly token: string;
}

export function acme(options: AcmeOptions): TransportFactory {
  return () => new AcmeTransport(options);
}

interface AcmeAnswer {
  readonly message_id?: unknown;
  readonly error?: { readonly code?: unknown };
}

/** For tests; apps use {@link acme}. */
export class AcmeTransport implements MessageTransport {
  readonly name = 'acme';
  readonly capabilities = {
    channels: ['sms'],
    maxRecipients: 1,
    idempotencyWindow: 24 * 60 * 60 * 1_000,
  };

  constructor(private readonly options: AcmeOptions) {}

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    const { id, sender, recipients, content } = submission;
    if (content.kind !== 'text')
      throw new PermanentFailure('unsupported_content', 'Acme carries text only');
    // The request did not start: the message waits, and no attempt is used.
    if (signal.aborted) throw new PausedFailure('stopped', 'The request did not start');
    const { url, token } = this.options;
    const request = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': id,
      },
      body: JSON.stringify({ from: sender, to: recipients[0], text: content.text }),
      // fetch leaves a listener on the signal that it gets.
      signal: AbortSignal.any([signal]),
      redirect: 'manual',
    } as const;
    const { status, answer } = await fetch(`${url}/messages`, request)
      .then(async (response) => ({ status: response.status, answer: await answerIn(response) }))
      .catch(() => {
        throw new UncertainFailure('no_answer', 'Acme did not answer');
      });
    const { message_id: messageId, error } = answer;
    if (status === 201 && typeof messageId === 'string')
      return { reference: messageId, messageIds: [messageId] };
    // Only Acme's own error proves that Acme refused the message, and not a proxy before it.
    if (status === 422 && typeof error?.code === 'string')
      throw new PermanentFailure(error.code, `Acme refused the message: ${error.code}`);
    if ([401, 403, 429, 503].includes(status))
      throw new PausedUncertainFailure(`http_${status}`, `Acme takes no messages now (${status})`);
    // Acme may have the message. The library repeats the request under the same key.
    throw new UncertainFailure(`http_${status}`, `Acme answered ${status} in an unknown form`);
  }
}

async function answerIn(response: Response): Promise<AcmeAnswer> {
  const text = await response.text();
  try {
    return Object(JSON.parse(text)) as AcmeAnswer;
  } catch {
    return {};
  }
}
