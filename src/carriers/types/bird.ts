import type { CallbackParser } from '@dundun/messaging';
import { bird, birdParser, birdSignature } from '@dundun/messaging/bird';
import { credential, form, httpUrl, secretText, visible } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

const number = form('must be 7 to 15 digits with country code, such as 2348000000001', (written) =>
  /^[1-9]\d{6,14}$/.test(written) ? written : undefined,
);

/** SMS through a channel of Bird, which sends from its own number or name. */
export const BIRD = carrierType(
  {
    access_key: { parse: credential, secret: 'part' },
    workspace_id: { parse: visible },
    channel_id: { parse: visible },
    number: { parse: number, optional: true },
    signing_key: { parse: secretText, secret: 'whole' },
    callback_url: { parse: httpUrl },
    url: { parse: httpUrl, default: 'https://api.bird.com' },
  },
  {
    channels: ['sms'],
    make: ({
      access_key,
      workspace_id,
      channel_id,
      number: own,
      signing_key: signingKey,
      callback_url,
      url,
    }) => ({
      transport: bird({
        accessKey: access_key,
        workspaceId: workspace_id,
        channelId: channel_id,
        baseUrl: url,
      }),
      callbacks: {
        parser: own === undefined ? birdParser() : toNumber(birdParser(), channel_id, own),
        verifier: birdSignature({ signingKey, origin: new URL(callback_url).origin }),
      },
    }),
  },
);

/** Bird names the channel that received a message; accounts have its number. */
function toNumber(parser: CallbackParser, channel: string, own: string): CallbackParser {
  return {
    parse: (request) => {
      const { messages = [], ...others } = parser.parse(request);
      return {
        ...others,
        messages: messages.map((one) => (one.to === channel ? { ...one, to: own } : one)),
      };
    },
  };
}
