import type { DeliveryReport } from '../../message/events.js';
import { PermanentFailure } from '../../message/errors.js';
import { identifier, own } from '../../message/report-fields.js';
import type { VoiceContent } from '../../message/voice-content.js';
import type {
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, type OptionsOf } from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  HttpRequestProvider,
  numberOf,
  type ProviderRequest,
} from '../http-client/http-provider.js';
import { httpAddress } from '../provider-options.js';
import {
  TWILIO_ACCOUNT,
  twilioCredential,
  twilioErrors,
  twilioFailure,
  twilioPath,
} from './twilio-account.js';
import { reportOfCall, SEALED, SUBMISSION } from './twilio-calls.js';
import { TwimlSeal } from './twiml-seal.js';

/** Longest TwiML of a request, and longest address at which Twilio asks for it. */
const MAX_TWIML = 4_000;
const SECOND = 1_000;

const TWILIO = {
  ...TWILIO_ACCOUNT,
  /**
   * Address of this app's callbacks, as Twilio reaches it: `{callbackPath}/twilio`, whose endpoint
   * has `twilioVoiceParser()` and `twilioSignature()`.
   */
  callbackUrl: httpAddress,
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

export class TwilioVoiceTransport extends HttpRequestProvider {
  readonly #path: string;
  readonly #seal: TwimlSeal;

  constructor(
    private readonly settings: ReturnType<typeof read>,
    context: TransportContext,
  ) {
    super(settings, context, { channels: ['voice'] });
    this.#seal = new TwimlSeal(settings.authToken);
    this.#path = `${twilioPath(settings)}/Calls`;
  }

  /** One request for each call with a known sid. */
  fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    return this.pollEach(submissions, async ({ submissionId }, sid) => {
      const path = `${this.#path}/${encodeURIComponent(sid)}.json`;
      const answer = await this.send({ method: 'GET', path }, signal);
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw twilioFailure(answer, this.context.clock.now());
      return reportOfCall(answer.body, submissionId);
    });
  }

  protected credential() {
    return twilioCredential(this.settings);
  }

  protected requestOf(submission: Submission): ProviderRequest {
    return { path: `${this.#path}.json`, body: this.#formOf(submission) };
  }

  protected outcomeOf(answer: ClientAnswer): SubmissionAccepted {
    if (answer.status < 200 || answer.status >= 300)
      throw twilioFailure(answer, this.context.clock.now());
    const sid = identifier(own(answer.body, 'sid'));
    if (sid === null) throw twilioErrors.unusable('the sid of a call');
    return { reference: sid, messageIds: [sid] };
  }

  #formOf({ id, sender, content, recipients }: Submission): URLSearchParams {
    if (content.kind !== 'call')
      throw new PermanentFailure(
        'unsupported_content',
        `The ${this.name} transport makes calls only`,
      );
    const to = numberOf(recipients[0], 'Twilio');
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
