import ipaddr from 'ipaddr.js';
import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackVerifier } from '../../ports/delivery-report-parser.js';

/**
 * The peer's address is in one of the ranges (`203.0.113.0/24`, `2001:db8::/32`, or one address). IPv4
 * in IPv6 clothes counts as IPv4. Behind a proxy, tell the platform to trust it (`trustProxy` on
 * Fastify, `app.set('trust proxy', …)` on Express), or the peer is the proxy.
 *
 * @throws MessagingConfigError naming the range by its index.
 */
export function ipRanges(ranges: readonly string[]): CallbackVerifier {
  if (ranges.length === 0) throw new MessagingConfigError('ipRanges: must name at least one range');
  const parsed = ranges.map((range, index) => {
    try {
      const [address, bits] = range.includes('/')
        ? ipaddr.parseCIDR(range)
        : [ipaddr.parse(range), undefined];
      return [address, bits ?? address.toByteArray().length * 8] as const;
    } catch {
      throw new MessagingConfigError(
        `ipRanges[${index}]: ${JSON.stringify(range)} is no range; write 203.0.113.0/24 or one address`,
      );
    }
  });
  return {
    verify: ({ ip }) => {
      if (!ipaddr.isValid(ip)) return false;
      const peer = ipaddr.process(ip);
      return parsed.some(
        ([address, bits]) => address.kind() === peer.kind() && peer.match(address, bits),
      );
    },
  };
}
