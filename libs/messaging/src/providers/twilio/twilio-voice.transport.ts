import type { OnApplicationShutdown } from '@nestjs/common';
import type { DeliveryReport } from '../../message/events.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import { identifier, own } from '../../message/report-fields.js';
import type { VoiceContent } from '../../message/voice-content.js';
import type {
  MessageTransport,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import {
  group,
  type OptionsOf,
  textLike,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import { type ClientAnswer, HttpClient } from '../http-client/http-client.js';
import { refusalFailure, retryAfterMilliseconds } from '../http-client/http-failures.js';
import { httpAddress, providerName } from '../provider-options.js';
import { reportOfCall, SEALED, SUBMISSION } from './twilio-calls.js';
import { TwimlSeal } from './twiml-seal.js';

const MAX_ANSWER = 65_536;
/** Longest TwiML of a request, and longest address at which Twilio asks for it. */
const MAX_TWIML = 4_000;
const SECOND = 1_000;

const TWILIO = {
  /** `AC…`, from the console. */
  accountSid: textLike(
    /^AC[0-9A-Za-z]{32}$/,
    'AC and 32 letters and digits, as the console shows it',
  ),
  authToken: textLike(/^[\x21-\x7e]{16,}$/, 'the auth token of the account, without white space'),
  /**
   * Address of this app's callbacks, as Twilio reaches it: `{callbackPath}/twilio`, whose endpoint
   * has `twilioVoiceParser()` and `twilioSignature()`.
   */
  callbackUrl: httpAddress,
  /** Address of a service with Twilio's API. @default 'https://api.twilio.com' */
  baseUrl: withDefault(httpAddress, 'https://api.twilio.com'),
  /** Most connections, and requests in flight. @default 16 */
  connections: withDefault(wholeNumber, 16),
  /** Tells transports apart, also in stored submissions: do not change it. @default 'twilio' */
  name: withDefault(providerName, 'twilio'),
};

/** Options of {@link twilioVoice}. */
export type TwilioVoiceOptions = OptionsOf<typeof TWILIO>;

const read = group(TWILIO);

/**
 * Makes calls through Twilio's `Calls.json`, or a service with the same API, with inline TwiML.
 * Twilio has no idempotency keys: a call with a lost answer is `unknown` until its callbacks, which
 * name the submission, come. With `machine: 'hangup'` Twilio finds out who has answered, and asks the
 * callback address for the TwiML: give `twilioVoiceParser()` the same `authToken`.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource
 * @example
 * MessagingModule.forRoot({
 *   providers: { twilio: twilioVoice({ accountSid, authToken, callbackUrl: 'https://app.example.com/dlr/twilio' }) },
 *   callbackPath: 'dlr',
 *   callbacks: {
 *     providers: {
 *       twilio: {
 *         parser: twilioVoiceParser({ authToken }),
 *         verifier: twilioSignature({ authToken, origin: 'https://app.example.com' }),
 *       },
 *     },
 *   },
 * });
 */
export function twilioVoice(options: TwilioVoiceOptions): TransportFactory {
  const settings = read('', options);
  return (context) => new TwilioVoiceTransport(settings, context);
}

export class TwilioVoiceTransport implements MessageTransport, OnApplicationShutdown {
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly #client: HttpClient;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #seal: TwimlSeal;

  constructor(
    private readonly settings: ReturnType<typeof read>,
    private readonly context: TransportContext,
  ) {
    const { name, connections, accountSid, authToken, baseUrl } = settings;
    this.name = name;
    this.capabilities = {
      maxRecipients: 1,
      idempotencyWindow: 0,
      connections,
      channels: ['voice'],
    };
    this.#seal = new TwimlSeal(authToken);
    const base = baseUrl.origin + baseUrl.pathname.replace(/\/+$/, '');
    this.#client = new HttpClient(context.http, base, connections);
    this.#path = `/2010-04-01/Accounts/${accountSid}/Calls`;
    const credential = Buffer.from(`${accountSid}:${authToken}`).toString('base64');
    this.#headers = { authorization: `Basic ${credential}`, accept: 'application/json' };
  }

  async submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    const answer = await this.#client.send(
      {
        method: 'POST',
        path: `${this.#path}.json`,
        headers: { ...this.#headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: this.#formOf(submission).toString(),
        maxBytes: MAX_ANSWER,
      },
      signal,
    );
    if (answer.status < 200 || answer.status >= 300)
      throw callFailure(answer, this.context.clock.now());
    const sid = identifier(own(answer.body, 'sid'));
    if (sid === null)
      throw new UncertainFailure('invalid_answer', 'Twilio accepted without the sid of a call');
    return { reference: sid, messageIds: [sid] };
  }

  /** One request for each call with a known sid; ends at the first failure, with what it has. */
  async fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const reports: DeliveryReport[] = [];
    for (const { reference, submissionId } of submissions) {
      if (reference === null) continue;
      const path = `${this.#path}/${encodeURIComponent(reference)}.json`;
      try {
        const answer = await this.#client.send(
          { method: 'GET', path, headers: this.#headers, maxBytes: MAX_ANSWER },
          signal,
        );
        if (answer.status === 404) continue;
        if (answer.status !== 200) throw callFailure(answer, this.context.clock.now());
        const report = reportOfCall(answer.body, submissionId);
        if (report) reports.push(report);
      } catch (error) {
        if (reports.length === 0) throw error;
        break;
      }
    }
    return reports;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#client.close();
  }

  #formOf({ id, channel, sender, content, recipients }: Submission): URLSearchParams {
    if (channel !== 'voice' || content.kind !== 'call')
      throw new PermanentFailure(
        'unsupported_content',
        `The ${this.name} transport makes calls only`,
      );
    const [to] = recipients;
    if (to === undefined || recipients.length > 1)
      throw new PermanentFailure('invalid_submission', 'Twilio takes one number at a time');
    const call = content as VoiceContent;
    const callback = `${this.settings.callbackUrl.href}?${SUBMISSION}=${encodeURIComponent(id)}`;
    const twiml = twimlOf(call, callback);
    const asksAt =
      call.machine === 'hangup' ? `${callback}&${SEALED}=${this.#seal.seal(twiml, id)}` : undefined;
    if ((asksAt ?? twiml).length > MAX_TWIML)
      throw new PermanentFailure(
        'content_too_long',
        `The TwiML of the call${asksAt === undefined ? '' : ', encrypted in an address,'} has more than ${MAX_TWIML} characters; shorten the text`,
      );
    const form = new URLSearchParams({
      To: `+${to}`,
      From: `+${sender}`,
      ...(asksAt === undefined
        ? { Twiml: twiml }
        : { Url: asksAt, Method: 'POST', MachineDetection: 'Enable' }),
      Timeout: String(Math.round(call.ringTimeout / SECOND)),
      TimeLimit: String(Math.round(call.maxDuration / SECOND)),
      StatusCallback: callback,
      StatusCallbackMethod: 'POST',
    });
    for (const event of ['initiated', 'ringing', 'answered', 'completed'])
      form.append('StatusCallbackEvent', event);
    return form;
  }
}

/** @see https://www.twilio.com/docs/voice/twiml */
function twimlOf(call: VoiceContent, callback: string): string {
  const { text, audioUrl, code, repeat, language, voice, collect } = call;
  const loop = attributes({ loop: String(repeat) });
  const speech = attributes({ voice, language }) + loop;
  const said =
    audioUrl !== undefined
      ? `<Play${loop}>${escaped(audioUrl)}</Play>`
      : `<Say${speech}>${escaped(code === undefined ? (text ?? '') : code.split('').join(', '))}</Say>`;
  if (!collect) return `<Response>${said}</Response>`;
  const gather = attributes({
    input: 'dtmf',
    numDigits: String(collect.maxDigits),
    timeout: String(Math.round(collect.timeout / SECOND)),
    action: callback,
    method: 'POST',
  });
  return `<Response><Gather${gather}>${said}</Gather></Response>`;
}

function attributes(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escaped(value)}"`))
    .join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] as string);
}

/** Codes of a credential or account that Twilio refuses. */
const REFUSED_CREDENTIAL = [20003, 20005, 20404];

/**
 * Failures of Twilio's answers; only one with Twilio's numeric `code` is proof of a refusal.
 *
 * | answer | meaning |
 * |---|---|
 * | 401, 403 or 404 with 20003, 20005 or 20404 | paused until account and token are right |
 * | other 4xx with a code | permanent: the number, the caller id, a permission; the code is the error code |
 * | 401, 403, 404, 405, 407 without a code | uncertain, and paused: a proxy or another server gave it |
 * | others | as for every service |
 * @see https://www.twilio.com/docs/api/errors
 */
function callFailure(
  { status, body, retryAfter: asked }: Omit<ClientAnswer, 'text'>,
  now: number,
): SubmitFailure {
  const code = own(body, 'code');
  const retryAfter = retryAfterMilliseconds(asked, now);
  if (!Number.isSafeInteger(code)) {
    if ([401, 403, 404, 405, 407].includes(status))
      return new PausedUncertainFailure(
        'not_twilio',
        `The answer (${status}) has not Twilio's form: another service or a proxy gave it; check baseUrl`,
        retryAfter,
      );
    return refusalFailure('Twilio', { status, retryAfter, keyed: false });
  }
  if (REFUSED_CREDENTIAL.includes(code as number))
    return new PausedFailure(
      'unauthorized',
      `Twilio refused the account (${status} ${String(code)}); check accountSid and authToken, and the state of the account`,
    );
  return refusalFailure('Twilio', { status, code: String(code), retryAfter, keyed: false });
}
