import { identifier, own } from '../../message/report-fields.js';
import { type ReadersOf, type SettingsOf, textLike } from '../../ports/option-schema.js';
import { credential } from '../provider-options.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  balanceOf,
  basicCredential,
  HttpRequestProvider,
  type ServiceOptions,
  serviceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';

/** Options of every transport through Twilio. */
export interface TwilioAccountOptions extends ServiceOptions {
  /** `AC…`, from the console. */
  readonly accountSid: string;
  readonly authToken: string;
}

export const TWILIO_ACCOUNT = {
  accountSid: textLike(
    /^AC[0-9A-Za-z]{32}$/,
    'AC and 32 letters and digits, as the console shows it',
  ),
  authToken: credential('the auth token of the account'),
  ...serviceOptions({ name: 'twilio', baseUrl: 'https://api.twilio.com' }),
} satisfies ReadersOf<TwilioAccountOptions>;

/** @see https://www.twilio.com/docs/api/errors */
const errors = new ProviderErrors('Twilio', 'accountSid and authToken', {
  unauthorized: [20003, 20404],
  account_restricted: [20005, 30002],
  throttled: [20429, 21611, 63038],
  sender_unknown: [21212, 21267, 21603, 21606, 21659, 21660, 21701, 21703, 63007],
  not_routable: [21408, 21612],
});

/** A transport through one resource of Twilio's account. */
export abstract class TwilioProvider<
  Settings extends SettingsOf<typeof TWILIO_ACCOUNT>,
> extends HttpRequestProvider<Settings> {
  /** @param name of the resource, such as `Messages`, and after a slash the sid of one */
  protected pathOf(name: string): string {
    return `/2010-04-01/Accounts/${this.settings.accountSid}/${name}.json`;
  }

  protected credential() {
    return basicCredential(this.settings.accountSid, this.settings.authToken);
  }

  /** @see https://www.twilio.com/docs/usage/api/account-balance */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: this.pathOf('Balance'),
      balance: (body) => balanceOf(own(body, 'balance'), own(body, 'currency')),
    };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    return errors.accepted(identifier(own(body, 'sid')), 'a sid');
  }

  /** Only an answer with Twilio's numeric `code` is proof of a refusal. */
  protected failureOf(answer: ClientAnswer) {
    const code = own(answer.body, 'code');
    const known = Number.isSafeInteger(code) ? String(code) : undefined;
    return errors.failureOf(answer, known, this.context.clock.now());
  }
}
