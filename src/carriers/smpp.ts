import { MessagingConfigError } from '@dundun/messaging';
import { oneOf, text, wholeNumber } from '../config/parsers.js';
import { maxBindsProblem, smppBinds, smppUrl, timeZone } from '../config/smpp-settings.js';
import { carrierType } from './carrier-type.js';

export const SMPP = carrierType(
  {
    url: { parse: smppUrl, secret: 'part' },
    binds: { parse: smppBinds, default: '1' },
    max_binds: { parse: wholeNumber(1, 1_000), optional: true },
    window: { parse: wholeNumber(1, 1_000), default: '10' },
    system_type: {
      parse: text([/^[\x20-\x7e]{0,12}$/, 'must be at most 12 ASCII characters']),
      optional: true,
    },
    long: { parse: oneOf('udh', 'sar', 'payload'), default: 'udh' },
    id_format: { parse: oneOf('text', 'hex', 'decimal'), default: 'text' },
    time_zone: { parse: timeZone, default: 'UTC' },
  },
  ({ url, binds, max_binds: maxBinds, window, system_type, long, id_format, time_zone }) => {
    const problem = maxBindsProblem(maxBinds, binds);
    if (problem) throw new MessagingConfigError(`maxBinds: ${problem}`);
    return {
      transport: async () => {
        const { smpp } = await import('@dundun/messaging/smpp');
        return smpp({
          url,
          binds,
          maxBinds,
          window,
          systemType: system_type,
          long,
          idFormat: id_format,
          timeZone: time_zone,
        });
      },
    };
  },
);
