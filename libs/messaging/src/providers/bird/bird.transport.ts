import { reportReader } from '../../callbacks/callback-map.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  MediaRequest,
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, type ReadersOf, textLike } from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { credential } from '../provider-options.js';
import { BIRD_STATUSES } from './bird.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Options of {@link bird}. */
export interface BirdOptions extends ServiceOptions {
  readonly accessKey: string;
  readonly workspaceId: string;
  /** The SMS channel, which sends from its own number or name: the sender of a message is not used. */
  readonly channelId: string;
}

const BIRD = {
  accessKey: credential('the access key'),
  workspaceId: textLike(UUID, 'the id of the workspace, a UUID'),
  channelId: textLike(UUID, 'the id of an SMS channel, a UUID'),
  ...serviceOptions({ name: 'bird', baseUrl: 'https://api.bird.com' }),
} satisfies ReadersOf<BirdOptions>;

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
  const settings = read('bird', options);
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

/** They redirect to a signed address. @see https://docs.bird.com/api/channels-api/message-types */
const FILES: FilePlaces = {
  path: /^\/workspaces\/[\w-]+\/(?:[\w-]+\/){0,4}media\/[\w.-]+$/,
  own: ['media.api.bird.com', 'media.nest.messagebird.com'],
  open: ['*.s3.eu-west-1.amazonaws.com'],
};

class BirdTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  readonly #path = `/workspaces/${this.settings.workspaceId}/channels/${this.settings.channelId}/messages`;

  /** One request for each message with a known id. */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    return this.pollById(submissions, signal, (id) => `${this.#path}/${id}`, readMessage);
  }

  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected credential() {
    return { authorization: `AccessKey ${this.settings.accessKey}` };
  }

  /** @see https://docs.bird.com/api/channels-api/api-reference */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: this.#path.replace(/\/messages$/, ''),
      // The policy of a key may allow messages alone.
      isKnown: ({ status, body }) => status === 403 && typeof own(body, 'code') === 'string',
    };
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
