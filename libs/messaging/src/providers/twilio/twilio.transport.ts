import { reportReader, submissionLink } from '../../callbacks/callback-map.js';
import { UnroutableFailure } from '../../message/errors.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  MediaRequest,
  ProviderMessage,
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, optional, type ReadersOf, record, textLike } from '../../ports/option-schema.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { httpAddress } from '../provider-options.js';
import { TWILIO_ACCOUNT, type TwilioAccountOptions, TwilioProvider } from './twilio-account.js';
import { TWILIO_STATUSES } from './twilio.js';

/** Entries of one page of the list, and most pages of one search. */
const PAGE = 100;
const PAGES = 20;
/** Longest time between a submission and the creation of its message, in milliseconds: clocks differ. */
const APART = 600_000;

const contentSid = textLike(/^HX[0-9a-f]{32}$/i, 'the sid of a content template: HX and 32 digits');

/** Options of {@link twilio}. */
export interface TwilioOptions extends TwilioAccountOptions {
  /** `MG…`: a Messaging Service, which sends from its own numbers. @default the sender of the message */
  readonly messagingServiceSid?: string;
  /** Sids of the WhatsApp templates by their names: `{ order_update: 'HX…' }`. @default none */
  readonly contentSids?: Readonly<Record<string, string>>;
  /** Address of this app's callbacks, as Twilio reaches it. @default no reports but polled ones */
  readonly callbackUrl?: string;
}

const TWILIO = {
  ...TWILIO_ACCOUNT,
  messagingServiceSid: optional(
    textLike(/^MG[0-9a-f]{32}$/i, 'the sid of a Messaging Service: MG and 32 digits'),
  ),
  contentSids: optional(record(contentSid)),
  callbackUrl: optional(httpAddress),
} satisfies ReadersOf<TwilioOptions>;

const read = group(TWILIO);

/** Also of a subaccount; they redirect to the storage. @see https://www.twilio.com/docs/messaging/api/media-resource */
const FILES: FilePlaces = {
  path: /^\/2010-04-01\/Accounts\/AC\w{32}\/Messages\/[A-Z]{2}\w{32}\/Media\/ME\w{32}$/,
  own: ['api.twilio.com'],
  open: ['*.twiliocdn.com', 's3-external-1.amazonaws.com'],
};

/**
 * Sends SMS and WhatsApp messages through Twilio's `Messages.json`. Twilio has no idempotency keys: a
 * message with a lost answer is `unknown` until its first callback, whose address names the
 * submission, or, of an SMS, until the list of messages has one that only it can be. It is never sent
 * again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource
 * @example
 * providers: { twilio: twilio({ accountSid, authToken, callbackUrl: 'https://app.example.com/dlr/twilio' }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: {
 *     twilio: { parser: twilioParser(), verifier: twilioSignature({ authToken, origin: 'https://app.example.com' }) },
 *   },
 * },
 */
export function twilio(options: TwilioOptions): TransportFactory {
  const settings = read('twilio', options);
  return (context) => new TwilioTransport(settings, context, { channels: ['sms', 'whatsapp'] });
}

const readMessage = reportReader({
  messageId: 'sid',
  reference: 'sid',
  recipient: 'to',
  status: 'status',
  statuses: TWILIO_STATUSES,
  errorCode: 'error_code',
});

class TwilioTransport extends TwilioProvider<ReturnType<typeof read>> {
  /** One request for each message with a known sid. */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    const pathOf = (sid: string) => this.pathOf(`Messages/${sid}`);
    return this.pollById(submissions, signal, pathOf, readMessage);
  }

  /**
   * SMS by recipient, sender and day. A message without a date of sending yet may be missing, and so may
   * one whose text Twilio has changed or deleted: the list proves no absence.
   * @see https://www.twilio.com/docs/messaging/api/message-resource#read-multiple-message-resources
   */
  async listSent(submissions: readonly SentSubmission[], signal: AbortSignal) {
    const searches = new Map<string, Search>();
    for (const { channel, recipients, sender, firstSentAt } of submissions) {
      const [to] = recipients;
      // Of an erased one nothing can be found.
      if (channel !== 'sms' || !to) continue;
      const key = `${to} ${sender}`;
      const times = [...(searches.get(key)?.times ?? []), firstSentAt.getTime()];
      searches.set(key, { to, sender, times });
    }
    const found = await this.readEach([...searches.values()], (search) =>
      this.#listOf(search, signal),
    );
    // With a Messaging Service several searches may have one recipient.
    return [...new Map(found.map((one) => [one.report.messageId, one])).values()];
  }

  async #listOf(search: Search, signal: AbortSignal): Promise<readonly ProviderMessage[]> {
    const { to, sender, times } = search;
    const { messagingServiceSid } = this.settings;
    const query = new URLSearchParams({ To: `+${to}`, PageSize: String(PAGE) });
    if (messagingServiceSid === undefined && sender) query.set('From', senderOf(sender));
    query.set('DateSent>', new Date(Math.min(...times) - APART).toISOString().slice(0, 10));
    const list = this.pathOf('Messages');
    let path = `${list}?${query.toString()}`;
    const listed: ProviderMessage[] = [];
    for (let page = 0; page < PAGES; page++) {
      const answer = await this.send({ method: 'GET', path }, signal);
      const messages = own(answer.body, 'messages');
      if (answer.status !== 200 || !Array.isArray(messages)) throw this.failureOf(answer);
      for (const message of messages) {
        const one = this.#listedOf(message, to);
        const isNear = (time: number) => Math.abs(time - (one?.takenAt.getTime() ?? NaN)) <= APART;
        if (one && times.some(isNear)) listed.push(one);
      }
      const next = own(answer.body, 'next_page_uri');
      if (next === null || next === undefined) return listed;
      if (typeof next !== 'string' || !next.startsWith(`${list}?`)) return [];
      path = next;
    }
    return [];
  }

  /** `undefined`: an inbound message, or one of another sender or Messaging Service. */
  #listedOf(message: unknown, recipient: string): ProviderMessage | undefined {
    const { messagingServiceSid = null } = this.settings;
    const report = readMessage(message);
    const messageId = report?.messageId;
    const text = own(message, 'body');
    const from = identifier(own(message, 'from'));
    const takenAt = new Date(String(own(message, 'date_created')));
    const service = own(message, 'messaging_service_sid') ?? null;
    if (!report || !messageId || typeof text !== 'string' || Number.isNaN(takenAt.getTime()))
      return;
    if (own(message, 'direction') !== 'outbound-api' || service !== messagingServiceSid) return;
    const sender = messagingServiceSid === null ? (from?.replace(/^\+/, '') ?? '') : null;
    return { report: { ...report, messageId, recipient }, sender, text, takenAt };
  }

  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected requestOf(submission: Submission) {
    const { id, channel, sender, recipients } = submission;
    const { messagingServiceSid, callbackUrl } = this.settings;
    const prefix = channel === 'whatsapp' ? 'whatsapp:' : '';
    const form = new URLSearchParams({ To: `${prefix}+${this.numberOf(recipients[0])}` });
    if (messagingServiceSid !== undefined) form.set('MessagingServiceSid', messagingServiceSid);
    else form.set('From', prefix + senderOf(sender));
    const template = this.templateOf(submission);
    if (template) {
      form.set('ContentSid', this.#contentSidOf(template.template));
      const variables = Object.fromEntries(
        template.params.map((value, n) => [String(n + 1), value]),
      );
      form.set('ContentVariables', JSON.stringify(variables));
    } else form.set('Body', this.textOf(submission));
    if (callbackUrl) form.set('StatusCallback', submissionLink(callbackUrl, id));
    return { path: this.pathOf('Messages'), body: form };
  }

  #contentSidOf(template: string): string {
    const { contentSids = {} } = this.settings;
    if (Object.hasOwn(contentSids, template)) return contentSids[template] as string;
    throw new UnroutableFailure(
      'template_unknown',
      'The option contentSids of twilio() has no sid of this template',
    );
  }
}

/** SMS to one number from one sender, at these times in milliseconds. */
interface Search {
  readonly to: string;
  readonly sender: string | undefined;
  readonly times: readonly number[];
}

/** A phone number has a plus; a short code and a name have none. */
function senderOf(sender: string): string {
  return /^\d{9,}$/.test(sender) ? `+${sender}` : sender;
}
