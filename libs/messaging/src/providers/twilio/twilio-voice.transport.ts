import { PermanentFailure } from '../../message/errors.js';
import type { VoiceContent } from '../../message/content/voice-content.js';
import type {
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, type ReadersOf } from '../../ports/option-schema.js';
import { httpAddress } from '../provider-options.js';
import { TWILIO_ACCOUNT, type TwilioAccountOptions, TwilioProvider } from './twilio-account.js';
import { reportOfCall, SEALED, SUBMISSION } from './twilio-calls.js';
import { TwimlSeal } from './twiml-seal.js';

/** Longest TwiML of a request, and longest address at which Twilio asks for it. */
const MAX_TWIML = 4_000;
const SECOND = 1_000;

/** Options of {@link twilioVoice}. */
export interface TwilioVoiceOptions extends TwilioAccountOptions {
  /**
   * Address of this app's callbacks, as Twilio reaches it: `{callbackPath}/twilio`, whose endpoint
   * has `twilioVoiceParser()` and `twilioSignature()`.
   */
  readonly callbackUrl: string;
}

const TWILIO = {
  ...TWILIO_ACCOUNT,
  callbackUrl: httpAddress,
} satisfies ReadersOf<TwilioVoiceOptions>;

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
  const settings = read('twilioVoice', options);
  return (context) => new TwilioVoiceTransport(settings, context, { channels: ['voice'] });
}

export class TwilioVoiceTransport extends TwilioProvider<ReturnType<typeof read>> {
  readonly #seal = new TwimlSeal(this.settings.authToken);

  /** One request for each call with a known sid. */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    return this.pollById(submissions, signal, (sid) => this.pathOf(`Calls/${sid}`), reportOfCall);
  }

  protected requestOf(submission: Submission) {
    return { path: this.pathOf('Calls'), body: this.#formOf(submission) };
  }

  #formOf({ id, sender, content, recipients }: Submission): URLSearchParams {
    if (content.kind !== 'call')
      throw new PermanentFailure(
        'unsupported_content',
        `The ${this.name} transport makes calls only`,
      );
    const to = this.numberOf(recipients[0]);
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
