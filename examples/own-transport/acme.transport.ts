import type { TransportFactory } from '@dundun/messaging';
import {
  type MessageTransport,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  type Submission,
  type SubmissionAccepted,
  type TransportContext,
  UncertainFailure,
} from '@dundun/messaging/ports';

/** Acme's API: `POST /messages` with an idempotency key that it honours for a day. */
export interface AcmeOptions {
  readonly url: string;
  readonly token: string;
}

export function acme(options: AcmeOptions): TransportFactory {
  return (context) => new AcmeTransport(options, context);
}

interface AcmeAnswer {
  readonly message_id?: unknown;
  readonly error?: { readonly code?: unknown };
}

class AcmeTransport implements MessageTransport {
  readonly name = 'acme';
  readonly capabilities = {
    channels: ['sms'],
    maxRecipients: 1,
    idempotencyWindow: 24 * 60 * 60 * 1_000,
  };

  constructor(
    private readonly options: AcmeOptions,
    private readonly context: TransportContext,
  ) {}

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    const { id, sender, recipients, content } = submission;
    if (content.kind !== 'text')
      throw new PermanentFailure('unsupported_content', 'Acme carries text only');
    // The request did not start: the message waits, and no attempt is used.
    if (signal.aborted) throw new PausedFailure('stopped', 'The request did not start');
    const { url, token } = this.options;
    const { status, data } = await this.context.http.axiosRef
      .post<AcmeAnswer | string>(
        `${url}/messages`,
        { from: sender, to: recipients[0], text: content.text },
        {
          signal,
          headers: { authorization: `Bearer ${token}`, 'idempotency-key': id },
          validateStatus: null,
          maxContentLength: 65_536,
          maxRedirects: 0,
        },
      )
      .catch(() => {
        throw new UncertainFailure('no_answer', 'Acme did not answer');
      });
    const answer: AcmeAnswer = typeof data === 'object' && data !== null ? data : {};
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
