import { readSecrets } from '../../callbacks/verifiers.js';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { smsParts } from '../../message/sms-parts.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import {
  group,
  oneOf,
  optional,
  type OptionReader,
  type ReadersOf,
  text,
  textLike,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import { foreignFailure, retryAfterMilliseconds } from '../http-client/http-failures.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  type ServiceSettings,
} from '../http-client/http-provider.js';
import { httpAddress, providerName } from '../provider-options.js';
import { reportLink } from './kannel-callbacks.js';

const MAX_ANSWER = 65_536;
const SUBMISSION_ID = /^[\x21-\x7e]{1,255}$/;
const HEADER_TEXT = /^[\x20-\x7e]+$/;
/** Bits of all kinds of reports: delivered 1, undeliverable 2, queued 4, accepted 8, refused 16. */
const ALL_REPORTS = '31';

const address: OptionReader<string> = (option, value) => {
  const { origin, pathname } = httpAddress(option, value);
  return origin + (pathname === '/' ? '/cgi-bin/sendsms' : pathname);
};

/** The value becomes a header, and Kannel trims the spaces around it. */
const headerText = textLike(
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
  "printable ASCII, as in Kannel's sendsms-user group, without a space or a newline at either end; a file read with a trailing newline is a usual cause",
);

const secret: OptionReader<string> = (option, value) => {
  const [given = ''] = readSecrets(option, text(option, value));
  return given;
};

/** Options of {@link kannel}. */
export interface KannelOptions {
  /** Address of smsbox's sendsms; without a path, `/cgi-bin/sendsms` is added. */
  readonly url: string;
  /** `username` of the `sendsms-user` group. */
  readonly username: string;
  /** Password of that user. Sent in a header, never in an address. */
  readonly password: string;
  /** Address at which Kannel reports deliveries. Without it, messages stay `sent`. */
  readonly callback?: {
    /** Address of this app's callbacks, as Kannel reaches it. */
    readonly url: string;
    /** Signs the address, or any client could report deliveries. At least 16 characters. */
    readonly secret: string;
  };
  /** `'message'`: only for messages that ask for them. Kannel has no polling. @default 'always' */
  readonly reports?: 'always' | 'message';
  /** `smsc-id` to route through. @default Kannel's own routing */
  readonly smsc?: string;
  /** Most connections, and requests in flight; smsbox accepts 500 from all clients. @default 64 */
  readonly connections?: number;
  /** Tells transports apart, also in stored submissions: do not change it. @default 'kannel' */
  readonly name?: string;
}

const KANNEL = {
  url: address,
  username: headerText,
  password: headerText,
  callback: optional(
    group({
      url: httpAddress,
      secret,
    }),
  ),
  reports: withDefault(oneOf('always', 'message'), 'always'),
  smsc: optional(headerText),
  connections: withDefault(wholeNumber, 64),
  name: withDefault(providerName, 'kannel'),
} satisfies ReadersOf<KannelOptions>;

export const kannelSettings = group(KANNEL);

/**
 * Sends through a Kannel SMS gateway (its smsbox's sendsms).
 * @throws MessagingConfigError naming the option and the remedy
 * @example
 * MessagingModule.forRoot({
 *   transport: kannel({ url: 'http://gw:13013', username, password, callback: { url, secret } }),
 *   callbacks: { parser: kannelParser(), verifier: kannelSignature(secret) },
 * });
 */
export function kannel(options: KannelOptions): TransportFactory {
  const settings = kannelSettings('kannel', options);
  const { url: baseUrl } = settings;
  return (context) => new KannelTransport({ ...settings, baseUrl }, context, { channels: ['sms'] });
}

/**
 * Submits one recipient per request, because Kannel's answer for several covers only the first.
 * Kannel returns no reference and ignores keys: the submission's id is the reference, and what
 * Kannel may have accepted is never repeated; a report, which names the submission, settles it.
 */
export class KannelTransport extends HttpRequestProvider<
  ServiceSettings & ReturnType<typeof kannelSettings>
> {
  protected credential() {
    const { username, password } = this.settings;
    return { 'x-kannel-username': username, 'x-kannel-password': password };
  }

  protected accountRequest(): AccountRequest {
    const headers = { 'content-type': 'text/plain; charset=UTF-8' };
    // Kannel reads the user before the recipient, and refuses what has none.
    const isKnown = ({ status, text }: ClientAnswer) =>
      status === 400 && /^(?:missing|empty) receiver/i.test(text);
    return { path: '', headers, body: '', maxBytes: MAX_ANSWER, isKnown };
  }

  /** The password and all values but the text are in headers, which Kannel does not log. */
  protected requestOf(submission: Submission) {
    const { id, sender, recipients, deliveryReport } = submission;
    const recipient = this.numberOf(recipients[0]);
    const body = this.textOf(submission);
    // Id and sender become header values, so only plain text is accepted.
    if (!SUBMISSION_ID.test(id) || !HEADER_TEXT.test(sender))
      throw new PermanentFailure(
        'invalid_submission',
        'The submission id or the sender cannot be a header value',
      );
    const { smsc, callback, reports } = this.settings;
    const wantsReports = reports === 'always' || deliveryReport;
    const headers = {
      'content-type': 'text/plain; charset=UTF-8',
      ...(smsc !== undefined && { 'x-kannel-smsc': smsc }),
      'x-kannel-from': sender,
      'x-kannel-to': recipient,
      'x-kannel-coding': smsParts(body).encoding === 'GSM-7' ? '0' : '2',
      ...(callback &&
        wantsReports && {
          'x-kannel-dlr-mask': ALL_REPORTS,
          'x-kannel-dlr-url': reportLink(callback.url.href, callback.secret, id, recipient),
        }),
    };
    return { path: '', headers, body, maxBytes: MAX_ANSWER };
  }

  protected override isAccepted({ status }: ClientAnswer): boolean {
    return status === 202;
  }

  protected outcomeOf(_answer: ClientAnswer, { id }: Submission) {
    return { reference: id };
  }

  protected failureOf(answer: ClientAnswer): SubmitFailure {
    return sendsmsFailure(answer, this.context.clock.now());
  }
}

type Refusal = (retryAfter: number | undefined) => SubmitFailure;

/** The refusals in Kannel's own form, as smsbox writes them, by status. */
const REFUSALS: Readonly<Record<number, readonly (readonly [form: RegExp, refusal: Refusal])[]>> = {
  400: [
    [
      /denied by/i,
      () => new PermanentFailure('number_denied', "The number is on one of Kannel's lists (400)"),
    ],
    [
      /^[^<]*\b(rejected|invalid UDH)\b/i,
      () => new PermanentFailure('bad_request', 'Kannel refused a field of the request (400)'),
    ],
  ],
  403: [
    [
      /^not routable/i,
      () => new UnroutableFailure('not_routable', 'No SMSC of Kannel takes this number (403)'),
    ],
    [
      /^authori[sz]ation failed/i,
      () =>
        new PausedFailure(
          'unauthorized',
          'Kannel refused the user (403); check username, password and user-allow-ip of its sendsms-user',
        ),
    ],
  ],
  404: [
    [
      /^unknown request/i,
      () =>
        new PausedFailure(
          'not_sendsms',
          "There is no sendsms at this address (404); check url and smsbox's sendsms-url",
        ),
    ],
  ],
  503: [
    [
      /^temporal failure/i,
      (retryAfter) =>
        new RetryableFailure('unavailable', 'Kannel takes no message now (503)', retryAfter),
    ],
  ],
};

/**
 * Failures of smsbox's answers. Without keys only Kannel's own text is proof of a refusal; the
 * answers not named here mean what {@link refusalFailure} says.
 *
 * | answer | meaning |
 * |---|---|
 * | 400 `… rejected`, `… denied by …` | permanent: a field is wrong, or the number is on a list |
 * | 403 `Authorization failed` | paused until user, password or address range is right |
 * | 403 `Not routable` | permanent: no SMSC takes this number |
 * | 404 `Unknown request.` | paused: the address is not that of sendsms |
 * | 503 `Temporal failure` | retryable: queues full or no SMSC connected; nothing accepted |
 * | 401, 403, 404, 405, 407 with another text | uncertain, and paused: a proxy or another server gave it |
 * | other 2xx | uncertain |
 */
function sendsmsFailure(
  { status, text, retryAfter: asked }: ClientAnswer,
  now: number,
): SubmitFailure {
  const retryAfter = retryAfterMilliseconds(asked, now);
  const [, refusal] = REFUSALS[status]?.find(([form]) => form.test(text)) ?? [];
  if (refusal) return refusal(retryAfter);
  if (status < 300)
    return new UncertainFailure(
      'invalid_answer',
      `The answer (${status}) does not say whether Kannel has the message`,
    );
  return foreignFailure('Kannel', { status, retryAfter }, "url and smsbox's sendsms-url");
}
