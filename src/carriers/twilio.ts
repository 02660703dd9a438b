import { twilio, twilioParser, twilioSignature } from '@dundun/messaging';
import { credential, form, httpUrl, text, twilioAccount } from '../config/parsers.js';
import { carrierType } from './carrier-type.js';

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
    account_sid: { parse: twilioAccount },
    auth_token: { parse: credential, secret: 'whole' },
    callback_url: { parse: httpUrl },
    messaging_service_sid: {
      parse: text([/^MG[0-9a-f]{32}$/i, 'must be MG and 32 digits, as the console shows it']),
      optional: true,
    },
    content_sids: { parse: contentSids, optional: true },
    url: { parse: httpUrl, default: 'https://api.twilio.com' },
  },
  (
    { account_sid, auth_token: authToken, callback_url, messaging_service_sid, content_sids, url },
    { callbackPath },
  ) => {
    const { origin } = new URL(callback_url);
    const transport = twilio({
      accountSid: account_sid,
      authToken,
      callbackUrl: `${origin}/${callbackPath}`,
      messagingServiceSid: messaging_service_sid,
      contentSids: content_sids,
      baseUrl: url,
    });
    return {
      transport: () => transport,
      callbacks: { parser: twilioParser(), verifier: twilioSignature({ authToken, origin }) },
    };
  },
);
