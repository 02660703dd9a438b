import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** A webhook's host is, or resolves to, an address inside somebody's network. */
class ForbiddenAddressError extends Error {
  readonly code = 'address_forbidden';

  constructor(host: string) {
    super(`${host} is not a public internet address; webhooks may not reach private networks`);
    this.name = 'ForbiddenAddressError';
  }
}

/** All addresses of a name. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

export type Lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void;

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Azure's host, from any machine of its cloud: a public address that answers inside alone. */
const CLOUD_HOSTS: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Only plain global unicast: not loopback, private, link-local, shared, multicast, reserved or
 * documentation space, not the host of a cloud's machines, and no IPv6 form that carries an IPv4
 * address inside (mapped, compatible, NAT64, 6to4, Teredo), since what stands inside would be reached
 * unchecked.
 */
export function isPublicAddress(address: string): boolean {
  // A zone (`%eth0`) picks an interface of this machine: no business of a public address.
  if (isIP(address) === 0 || address.includes('%') || CLOUD_HOSTS.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/**
 * The literal address a URL's host is, if it is one. WHATWG parsing has already turned decimal,
 * octal, hexadecimal and short spellings into four octets.
 */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/**
 * Opens sockets to public addresses only. The addresses that were checked are the ones connected
 * to: the name is not resolved again in between, so an answer that changes gains nothing. A name
 * with one forbidden address among good ones is refused whole.
 */
export function guardedConnector(
  options: buildConnector.BuildOptions,
  resolve: ResolveHost = resolveInDns,
  isAllowed = isPublicAddress,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(resolve, isAllowed) });
  return (target, callback) => {
    const literal = literalAddress(target.hostname);
    if (literal !== undefined && !isAllowed(literal))
      callback(new ForbiddenAddressError(target.hostname), null);
    else connect(target, callback);
  };
}

/** A `lookup` for `net.connect()` that yields checked addresses or an error. */
export function guardedLookup(resolve: ResolveHost, isAllowed = isPublicAddress): Lookup {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const wanted = addresses.filter(
          ({ family }) => !options.family || family === options.family,
        );
        const [first] = wanted;
        if (!first) callback(notFound(hostname), []);
        else if (addresses.some(({ address }) => !isAllowed(address)))
          callback(new ForbiddenAddressError(hostname), []);
        else if (options.all) callback(null, wanted);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

/**
 * Asks DNS itself and not `getaddrinfo`, which has four threads for the whole process: four names
 * whose servers stay silent would stop everybody's lookups. Names only the hosts file knows are
 * therefore not found, and none of those is public.
 */
async function resolveInDns(hostname: string): Promise<readonly LookupAddress[]> {
  // A fresh one each time: it reads the system's name servers once, when it is made.
  const resolver = new Resolver({ timeout: 2_500, tries: 2 });
  const [v4, v6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const found = [
    ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
    ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
  ];
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
  return found;
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}
