import { reportReader } from '../../callbacks/callback-map.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  MediaRequest,
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, optional, type ReadersOf, textLike } from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { credential, httpAddress } from '../provider-options.js';
import { SINCH_REPORTS } from './sinch.js';

/** Milliseconds before the first try from which reports are asked for: clocks differ. */
const MARGIN = 3_600_000;

/** Options of {@link sinch}. */
export interface SinchOptions extends ServiceOptions {
  readonly servicePlanId: string;
  readonly apiToken: string;
  /** Address of this app's callbacks, as Sinch reaches it. @default no reports but polled ones */
  readonly callbackUrl?: string;
}

const SINCH = {
  servicePlanId: textLike(
    /^[\w-]{1,64}$/,
    'the id of the service plan: letters, digits, dashes or underscores',
  ),
  apiToken: credential('the API token of the service plan'),
  callbackUrl: optional(httpAddress),
  ...serviceOptions({ name: 'sinch', baseUrl: 'https://us.sms.api.sinch.com' }),
} satisfies ReadersOf<SinchOptions>;

const read = group(SINCH);

/** @see https://developers.sinch.com/docs/sms/api-reference/status-codes */
const errors = new ProviderErrors('Sinch', 'servicePlanId and apiToken', {
  account_restricted: ['blocked_account', 'missing_callback_url'],
  not_routable: ['illegal_number_type'],
});

/**
 * Sends SMS through the batches of Sinch's SMS API, one recipient in a batch: Sinch refuses a whole
 * batch for one number. It has no idempotency keys, but finds reports by our id: they give the outcome
 * of a message with a lost answer, which is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://developers.sinch.com/docs/sms/api-reference/sms/tag/Batches/
 * @example
 * providers: { sinch: sinch({ servicePlanId, apiToken, callbackUrl: 'https://app.example.com/dlr/sinch' }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { sinch: { parser: sinchParser(), verifier: sinchSignature(secret) } } },
 */
export function sinch(options: SinchOptions): TransportFactory {
  const settings = read('sinch', options);
  const capabilities = { channels: ['sms'], reportsByKey: ['sms'] };
  return (context) => new SinchTransport(settings, context, capabilities);
}

const readReport = reportReader(SINCH_REPORTS);

/** @see https://developers.sinch.com/docs/sms/api-reference/mms-support */
const FILES: FilePlaces = { path: /^\/media\/[\w.-]+$/, open: ['*.sinch.com'] };

class SinchTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  readonly #path = `/xms/v1/${this.settings.servicePlanId}`;

  /** One request for each message, by our id: its report, once it is final. */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    const asked = submissions.map((one) => ({ ...one, reference: one.submissionId }));
    const pathOf = (id: string, { firstSentAt }: SentSubmission) => {
      const from = new Date(firstSentAt.getTime() - MARGIN).toISOString();
      return `${this.#path}/delivery_reports?client_reference=${id}&start_date=${from}`;
    };
    return this.pollById(asked, signal, pathOf, (body) => readReport(firstOf(body)));
  }

  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected credential() {
    return { authorization: `Bearer ${this.settings.apiToken}` };
  }

  /** @see https://developers.sinch.com/docs/sms/api-reference/sms/tag/Batches/#tag/Batches/operation/ListBatches */
  protected accountRequest(): AccountRequest {
    return { method: 'GET', path: `${this.#path}/batches?page_size=1` };
  }

  protected requestOf(submission: Submission) {
    const { id, sender, recipients } = submission;
    const { callbackUrl } = this.settings;
    const body = {
      type: 'mt_text',
      to: [this.numberOf(recipients[0])],
      ...(sender !== '' && { from: sender }),
      body: this.textOf(submission),
      client_reference: id,
      ...(callbackUrl && { delivery_report: 'per_recipient', callback_url: callbackUrl.href }),
    };
    return { path: `${this.#path}/batches`, body };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    return errors.accepted(identifier(own(body, 'id')), 'the id of a batch');
  }

  /** Only the documented body, of the status codes 400 and 403, is proof of a refusal. */
  protected failureOf(answer: ClientAnswer) {
    const code = own(answer.body, 'code');
    const isOwn =
      typeof code === 'string' &&
      /^[a-z][a-z_]{1,63}$/.test(code) &&
      typeof own(answer.body, 'text') === 'string';
    return errors.failureOf(answer, isOwn ? code : undefined, this.context.clock.now());
  }
}

function firstOf(body: unknown): unknown {
  const listed = own(body, 'delivery_reports');
  return Array.isArray(listed) ? listed[0] : undefined;
}
