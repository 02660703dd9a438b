import {
  twilio,
  twilioParser,
  twilioSignature,
  twilioVoice,
  twilioVoiceParser,
} from '@dundun/messaging/twilio';
import { form, httpUrl, secretText, text } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

const ACCOUNT = {
  account_sid: {
    parse: text([
      /^AC[0-9A-Za-z]{32}$/,
      'must be AC and 32 letters and digits, as the console of Twilio shows it',
    ]),
  },
  auth_token: { parse: secretText, secret: 'whole' },
  callback_url: { parse: httpUrl },
  url: { parse: httpUrl, default: 'https://api.twilio.com' },
} as const;

const contentSids = form(
  'must be names of templates with their sids; write them as order_update=HX… welcome=HX…',
  (written) => {
    const pairs = written.split(/\s+/).map((one) => /^([a-z0-9_]+)=(HX[0-9a-f]{32})$/i.exec(one));
    return pairs.every((pair) => pair !== null)
      ? Object.fromEntries(pairs.map(([, name = '', sid = '']) => [name, sid]))
      : undefined;
  },
);

/** SMS and WhatsApp through Twilio. */
export const TWILIO = carrierType(
  {
    ...ACCOUNT,
    messaging_service_sid: {
      parse: text([/^MG[0-9a-f]{32}$/i, 'must be MG and 32 digits, as the console shows it']),
      optional: true,
    },
    content_sids: { parse: contentSids, optional: true },
  },
  {
    channels: ['sms', 'whatsapp'],
    make: (
      {
        account_sid,
        auth_token: authToken,
        callback_url,
        messaging_service_sid,
        content_sids,
        url,
      },
      { callbackPath },
    ) => {
      const { origin } = new URL(callback_url);
      return {
        transport: twilio({
          accountSid: account_sid,
          authToken,
          callbackUrl: `${origin}/${callbackPath}`,
          messagingServiceSid: messaging_service_sid,
          contentSids: content_sids,
          baseUrl: url,
        }),
        callbacks: { parser: twilioParser(), verifier: twilioSignature({ authToken, origin }) },
      };
    },
  },
);

/** Calls through Twilio. */
export const TWILIO_VOICE = carrierType(ACCOUNT, {
  channels: ['voice'],
  make: ({ account_sid, auth_token: authToken, callback_url, url }, { callbackPath }) => {
    const { origin } = new URL(callback_url);
    return {
      transport: twilioVoice({
        accountSid: account_sid,
        authToken,
        callbackUrl: `${origin}/${callbackPath}`,
        baseUrl: url,
      }),
      callbacks: {
        parser: twilioVoiceParser({ authToken }),
        verifier: twilioSignature({ authToken, origin }),
      },
    };
  },
});
