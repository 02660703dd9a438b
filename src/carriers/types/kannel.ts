import { kannel, kannelParser, kannelSignature } from '@dundun/messaging/kannel';
import { httpUrl, secretText, visible } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** A Kannel SMS gateway, through its smsbox. */
export const KANNEL = carrierType(
  {
    // A wrong value may contain the password.
    url: { parse: httpUrl, secret: 'part' },
    username: { parse: visible },
    password: { parse: visible, secret: 'whole' },
    callback_url: { parse: httpUrl },
    callback_secret: { parse: secretText, secret: 'whole' },
  },
  {
    channels: ['sms'],
    make: (
      { url, username, password, callback_url: base, callback_secret: secret },
      { callbackPath },
    ) => ({
      transport: kannel({
        url,
        username,
        password,
        callback: { url: `${base.replace(/\/+$/, '')}/${callbackPath}`, secret },
      }),
      callbacks: { parser: kannelParser(), verifier: kannelSignature(secret) },
    }),
  },
);
