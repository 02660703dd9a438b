import { reportReader } from '../../callbacks/callback-map.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, type OptionsOf, textLike } from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import { HttpRequestProvider, serviceOptions } from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import { credential } from '../provider-options.js';
import { BIRD_STATUSES } from './bird.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const BIRD = {
  accessKey: credential('the access key'),
  workspaceId: textLike(UUID, 'the id of the workspace, a UUID'),
  /** The SMS channel, which sends from its own number or name: the sender of a message is not used. */
  channelId: textLike(UUID, 'the id of an SMS channel, a UUID'),
  ...serviceOptions({ name: 'bird', baseUrl: 'https://api.bird.com' }),
};

/** Options of {@link bird}. */
export type BirdOptions = OptionsOf<typeof BIRD>;

const read = group(BIRD);

/** What the HTTP status says of a body in Bird's form, before its code. */
const CODES: Readonly<Record<number, string>> = {
  401: 'authentication_failed',
  402: 'payment_required',
  403: 'forbidden',
  404: 'not_found',
};

const errors = new ProviderErrors('Bird', 'accessKey, workspaceId and channelId', {
  // The address of a message has nothing but the workspace and the channel that may be unknown.
  unauthorized: ['authentication_failed', 'not_found'],
  account_restricted: ['forbidden'],
  payment_required: ['payment_required'],
});

/**
 * Sends SMS through one channel of Bird's Channels API. It has no idempotency keys: a message with a lost
 * answer is `unknown` until its first webhook, which repeats the submission as `reference`, and is never
 * sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://docs.bird.com/api/channels-api/supported-channels/programmable-sms/sending-sms-messages
 * @example
 * providers: { bird: bird({ accessKey, workspaceId, channelId }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: {
 *     bird: { parser: birdParser(), verifier: birdSignature({ signingKey, origin: 'https://app.example.com' }) },
 *   },
 * },
 */
export function bird(options: BirdOptions): TransportFactory {
  const settings = read('', options);
  return (context) => new BirdTransport(settings, context, { channels: ['sms'] });
}

const readMessage = reportReader({
  messageId: 'id',
  reference: 'id',
  recipient: 'receiver.contacts.0.identifierValue',
  status: 'status',
  statuses: BIRD_STATUSES,
  errorCode: 'failure.code',
  time: 'lastStatusAt',
});

class BirdTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  readonly #path = `/workspaces/${this.settings.workspaceId}/channels/${this.settings.channelId}/messages`;

  /** One request for each message with a known id. */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    return this.pollById(submissions, signal, (id) => `${this.#path}/${id}`, readMessage);
  }

  protected credential() {
    return { authorization: `AccessKey ${this.settings.accessKey}` };
  }

  protected requestOf(submission: Submission) {
    const identifierValue = `+${this.numberOf(submission.recipients[0])}`;
    const body = {
      receiver: { contacts: [{ identifierKey: 'phonenumber', identifierValue }] },
      body: { type: 'text', text: { text: this.textOf(submission) } },
      reference: submission.id,
    };
    return { path: this.#path, body };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    return errors.accepted(identifier(own(body, 'id')), 'the id of a message');
  }

  /** Only a body with `code` and `message` is proof of a refusal, and no error of a server or proxy. */
  protected failureOf(answer: ClientAnswer) {
    const { body, status } = answer;
    const given = own(body, 'code');
    const isOwn =
      status < 500 &&
      typeof given === 'string' &&
      /^[A-Za-z][\w.-]{0,63}$/.test(given) &&
      typeof own(body, 'message') === 'string';
    const code = isOwn ? (CODES[status] ?? given) : undefined;
    return errors.failureOf(answer, code, this.context.clock.now());
  }
}
