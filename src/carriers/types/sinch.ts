import { sharedSecret } from '@dundun/messaging';
import { sinch, sinchParser, sinchSignature } from '@dundun/messaging/sinch';
import { credential, httpUrl, oneOf, secretText, visible } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS through Sinch, which signs its callbacks where its account manager has set that up. */
export const SINCH = carrierType(
  {
    service_plan_id: { parse: visible },
    api_token: { parse: credential, secret: 'part' },
    callback_url: { parse: httpUrl },
    callback_secret: { parse: secretText, secret: 'whole' },
    callback_proof: { parse: oneOf('address', 'signature'), default: 'address' },
    url: { parse: httpUrl, default: 'https://us.sms.api.sinch.com' },
  },
  {
    channels: ['sms'],
    make: (
      {
        service_plan_id,
        api_token,
        callback_url: base,
        callback_secret: secret,
        callback_proof,
        url,
      },
      { callbackPath },
    ) => {
      const isSigned = callback_proof === 'signature';
      const address = `${base.replace(/\/+$/, '')}/${callbackPath}`;
      return {
        transport: sinch({
          servicePlanId: service_plan_id,
          apiToken: api_token,
          callbackUrl: isSigned ? address : `${address}/${encodeURIComponent(secret)}`,
          baseUrl: url,
        }),
        callbacks: {
          parser: sinchParser(),
          verifier: isSigned ? sinchSignature(secret) : sharedSecret({ secret }),
        },
      };
    },
  },
);
