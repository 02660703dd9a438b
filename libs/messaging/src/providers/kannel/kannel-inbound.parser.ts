import type { InboundParser } from '../../ports/inbound-parser.js';
import { inboundMapParser } from '../../callbacks/inbound-map.parser.js';

/**
 * What people wrote through Kannel: a `get-url` or `post-url` of an `sms-service` that ends in
 * `?id=%I&from=%p&to=%P&text=%b&time=%T`. With a `post-url`, too, the address says everything: the body is
 * not read. `mo-recode = true` in the `smsbox` group makes every text UTF-8.
 *
 * @see https://www.kannel.org/download/kannel-userguide-snapshot/userguide.html
 */
export function kannelInboundParser(): InboundParser {
  const parser = inboundMapParser({
    messageId: 'id',
    from: 'from',
    to: 'to',
    text: 'text',
    time: 'time',
    timeFormat: 'epoch-seconds',
  });
  return { parse: (request) => parser.parse({ ...request, method: 'GET' }) };
}
