import { reportReader } from '../../callbacks/callback-map.js';
import type { DeliveryReport } from '../../message/events.js';
import { identifier, own, word } from '../../message/report-fields.js';
import type {
  MediaRequest,
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import {
  group,
  type ReadersOf,
  optional,
  textLike,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  balanceOf,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { outcomeOfResults, type RecipientResult } from '../http-client/recipient-results.js';
import { httpAddress, serviceAddress } from '../provider-options.js';
import { INFOBIP_REPORTS } from './infobip.js';

/** Ids in the address of one question for logs, which has at most 2,048 characters. */
const IDS = 30;

/** Options of {@link infobip}. */
export interface InfobipOptions extends ServiceOptions {
  /** Address of the account, as the portal shows it: `https://xxxxx.api.infobip.com`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Most recipients of one request. @default 100 */
  readonly maxRecipients?: number;
  /** Address of this app's callbacks, as Infobip reaches it. @default the account's subscription */
  readonly callbackUrl?: string;
}

const INFOBIP = {
  ...serviceOptions({ name: 'infobip', baseUrl: 'https://api.infobip.com' }),
  baseUrl: serviceAddress,
  apiKey: textLike(
    /^[\x21-\x7e]{16,}$/,
    'the API key: at least 16 characters, without white space and without App',
  ),
  maxRecipients: withDefault(wholeNumber, 100),
  callbackUrl: optional(httpAddress),
} satisfies ReadersOf<InfobipOptions>;

const read = group(INFOBIP);

/** By the code of Infobip's error body, or the name of the status of a message. */
const errors = new ProviderErrors('Infobip', 'apiKey', {
  unauthorized: ['E401', 'UNAUTHORIZED'],
  account_restricted: ['E403', 'FORBIDDEN'],
  payment_required: ['REJECTED_NOT_ENOUGH_CREDITS', 'REJECTED_PREPAID_PACKAGE_EXPIRED'],
  throttled: ['E429', 'TOO_MANY_REQUESTS'],
  uncertain: ['REJECTED_SYSTEM_ERROR'],
  sender_unknown: ['REJECTED_SENDER', 'REJECTED_SOURCE'],
  not_routable: ['REJECTED_NETWORK', 'REJECTED_PREFIX_MISSING', 'REJECTED_ROUTE_NOT_AVAILABLE'],
});

/** An earlier try of the request has arrived. */
const DUPLICATE = 'REJECTED_DUPLICATE_MESSAGE_ID';

/**
 * Sends SMS and WhatsApp messages through Infobip. It has no idempotency keys, but takes our ids: the
 * logs of the last 48 hours and the reports give the outcome of a message with a lost answer, which is
 * never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://www.infobip.com/docs/api/channels/sms
 * @example
 * providers: { infobip: infobip({ baseUrl: 'https://xxxxx.api.infobip.com', apiKey }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { infobip: { parser: infobipParser(), verifier: sharedSecret({ secret }) } } },
 */
export function infobip(options: InfobipOptions): TransportFactory {
  const settings = read('infobip', options);
  const { maxRecipients } = settings;
  const capabilities = { channels: ['sms', 'whatsapp'], maxRecipients, reportsByKey: ['sms'] };
  return (context) => new InfobipTransport(settings, context, capabilities);
}

const readLog = reportReader(INFOBIP_REPORTS);

/** @see https://www.infobip.com/docs/api/channels/whatsapp/whatsapp-inbound-messages/download-whatsapp-inbound-media */
const FILES: FilePlaces = {
  path: /^\/(?:whatsapp\/1\/senders\/\w+\/media|mms\/\d+\/(?:[\w-]+\/)*(?:media|files?))\/[\w.-]+$/,
  own: ['api.infobip.com', '*.api.infobip.com'],
};

class InfobipTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  /** By our ids of the messages: the logs of the last 48 hours. */
  async fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const known = new Map(
      submissions
        .filter(({ channel }) => channel === 'sms')
        .flatMap(({ submissionId, recipients }) =>
          recipients.map(
            (to) => [idOf(submissionId, to), { submissionId, recipient: to }] as const,
          ),
        ),
    );
    const ids = [...known.keys()];
    const reports: DeliveryReport[] = [];
    for (let from = 0; from < ids.length; from += IDS) {
      const asked = ids.slice(from, from + IDS);
      const query = new URLSearchParams({ messageId: asked.join(), limit: String(IDS) });
      const path = `/sms/3/logs?${query.toString()}`;
      const answer = await this.send({ method: 'GET', path }, signal).catch((error: unknown) => {
        if (reports.length === 0) throw error;
      });
      const found = own(answer?.body, 'results');
      if (answer?.status !== 200 || !Array.isArray(found)) {
        if (reports.length > 0 || !answer) break;
        throw this.failureOf(answer);
      }
      for (const report of found.map(readLog)) {
        const about = known.get(report?.messageId ?? '');
        if (report && about) reports.push({ ...report, ...about, reference: about.submissionId });
      }
    }
    return reports;
  }

  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected credential() {
    return { authorization: `App ${this.settings.apiKey}` };
  }

  /** @see https://www.infobip.com/docs/api/platform/account-management/get-account-balance */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: '/account/1/balance',
      balance: (body) => balanceOf(own(body, 'balance'), own(body, 'currency')),
      // A key with the scopes of messages alone.
      isKnown: ({ status, body }) =>
        status === 403 && (own(body, 'errorCode') ?? own(body, 'requestError')) !== undefined,
    };
  }

  protected requestOf(submission: Submission) {
    return submission.channel === 'whatsapp'
      ? this.#whatsAppOf(submission)
      : this.#smsOf(submission);
  }

  protected outcomeOf({ body }: ClientAnswer, { id, recipients }: Submission) {
    const found = own(body, 'messages') ?? (own(body, 'messageId') === undefined ? [] : [body]);
    const results = new Map(
      (Array.isArray(found) ? found : []).map((one) => [own(one, 'messageId'), one as unknown]),
    );
    return outcomeOfResults(errors, id, recipients, (to) => resultOf(results, idOf(id, to)));
  }

  #smsOf(submission: Submission) {
    const { id, sender, recipients } = submission;
    const url = this.settings.callbackUrl?.href;
    const message = {
      sender,
      destinations: recipients.map((recipient) => {
        const to = this.numberOf(recipient);
        return { to, messageId: idOf(id, to) };
      }),
      content: { text: this.textOf(submission) },
      webhooks: {
        callbackData: id,
        ...(url !== undefined && {
          contentType: 'application/json',
          delivery: { url, intermediateReport: true, notify: true },
        }),
      },
    };
    return { path: '/sms/3/messages', body: { messages: [message] } };
  }

  #whatsAppOf(submission: Submission) {
    const { id, sender, recipients } = submission;
    const to = this.numberOf(recipients[0]);
    const url = this.settings.callbackUrl?.href;
    const message = {
      from: sender,
      to,
      messageId: idOf(id, to),
      callbackData: id,
      ...(url !== undefined && { notifyUrl: url }),
    };
    const template = this.templateOf(submission);
    if (!template) {
      const text = this.textOf(submission);
      return { path: '/whatsapp/1/message/text', body: { ...message, content: { text } } };
    }
    const { template: templateName, language, params } = template;
    const templateData = { body: { placeholders: params } };
    const one = { ...message, content: { templateName, templateData, language } };
    return { path: '/whatsapp/1/message/template', body: { messages: [one] } };
  }

  /** By the `errorCode`, or the `messageId` of the older error body. */
  protected failureOf(answer: ClientAnswer) {
    const { body } = answer;
    const older = own(own(own(body, 'requestError'), 'serviceException'), 'messageId');
    const code = word(own(body, 'errorCode') ?? older);
    const isCode = code !== null && /^[A-Z][A-Z0-9_]*$/.test(code);
    return errors.failureOf(answer, isCode ? code : undefined, this.context.clock.now());
  }
}

/** Our id of one message: the submission and its recipient. */
function idOf(submissionId: string, recipient: string): string {
  return `${submissionId}.${recipient}`;
}

function resultOf(results: ReadonlyMap<unknown, unknown>, id: string): RecipientResult | undefined {
  const entry = results.get(id);
  if (entry === undefined) return undefined;
  const status = own(entry, 'status');
  const code = identifier(own(status, 'name'));
  const group = own(status, 'groupName');
  if (group === 'REJECTED' && code !== DUPLICATE) return code === null ? {} : { code };
  return typeof group === 'string' ? { id } : {};
}
