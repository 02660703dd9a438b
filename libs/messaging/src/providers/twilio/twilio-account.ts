import type { SubmitFailure } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import { textLike } from '../../ports/option-schema.js';
import { credential } from '../provider-options.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import { serviceOptions } from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';

/** Options of every transport through Twilio. */
export const TWILIO_ACCOUNT = {
  /** `AC…`, from the console. */
  accountSid: textLike(
    /^AC[0-9A-Za-z]{32}$/,
    'AC and 32 letters and digits, as the console shows it',
  ),
  authToken: credential('the auth token of the account'),
  ...serviceOptions({ name: 'twilio', baseUrl: 'https://api.twilio.com' }),
};

interface Account {
  readonly accountSid: string;
  readonly authToken: string;
}

export function twilioCredential({ accountSid, authToken }: Account) {
  const credential = Buffer.from(`${accountSid}:${authToken}`).toString('base64');
  return { authorization: `Basic ${credential}` };
}

export function twilioPath({ accountSid }: Account): string {
  return `/2010-04-01/Accounts/${accountSid}`;
}

/** @see https://www.twilio.com/docs/api/errors */
export const twilioErrors = new ProviderErrors('Twilio', 'accountSid and authToken', {
  unauthorized: [20003, 20404],
  account_restricted: [20005, 30002],
  throttled: [20429, 21611, 63038],
  sender_unknown: [21212, 21267, 21603, 21606, 21659, 21660, 21701, 21703, 63007],
  not_routable: [21408, 21612],
});

/** Only an answer with Twilio's numeric `code` is proof of a refusal. */
export function twilioFailure(answer: ClientAnswer, now: number): SubmitFailure {
  const code = own(answer.body, 'code');
  return twilioErrors.failureOf(answer, Number.isSafeInteger(code) ? String(code) : undefined, now);
}
