import { reportReader, submissionLink } from '../../callbacks/callback-map.js';
import { UnroutableFailure } from '../../message/errors.js';
import type {
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, optional, type OptionsOf, record, textLike } from '../../ports/option-schema.js';
import { httpAddress } from '../provider-options.js';
import { TWILIO_ACCOUNT, TwilioProvider } from './twilio-account.js';
import { TWILIO_STATUSES } from './twilio.js';

const contentSid = textLike(/^HX[0-9a-f]{32}$/i, 'the sid of a content template: HX and 32 digits');

const TWILIO = {
  ...TWILIO_ACCOUNT,
  /** `MG…`: a Messaging Service, which sends from its own numbers. @default the sender of the message */
  messagingServiceSid: optional(
    textLike(/^MG[0-9a-f]{32}$/i, 'the sid of a Messaging Service: MG and 32 digits'),
  ),
  /** Sids of the WhatsApp templates by their names: `{ order_update: 'HX…' }`. @default none */
  contentSids: optional(record(contentSid)),
  /** Address of this app's callbacks, as Twilio reaches it. @default no reports but polled ones */
  callbackUrl: optional(httpAddress),
};

/** Options of {@link twilio}. */
export type TwilioOptions = OptionsOf<typeof TWILIO>;

const read = group(TWILIO);

/**
 * Sends SMS and WhatsApp messages through Twilio's `Messages.json`. Twilio has no idempotency keys: a
 * message with a lost answer is `unknown` until its first callback, whose address names the
 * submission, and is never sent again.
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
  const settings = read('', options);
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
      'The option contentSids of the provider has no sid of this template',
    );
  }
}

/** A phone number has a plus; a short code and a name have none. */
function senderOf(sender: string): string {
  return /^\d{9,}$/.test(sender) ? `+${sender}` : sender;
}
