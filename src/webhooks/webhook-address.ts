import { parsedUrl } from '@dundun/messaging/values';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import type { PortRanges } from '../settings/parsers.js';
import { invalidField } from '../http/api-error.js';
import type { WebhookOptions } from './webhook-options.js';

class ForbiddenAddressError extends Error {
  readonly code = 'address_forbidden';

  constructor(host: string) {
    super(`${host} is not a public internet address; webhooks may not reach private networks`);
    this.name = 'ForbiddenAddressError';
  }
}

export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Azure's host agent: a public address that only that cloud's machines can reach. */
const CLOUD_HOSTS: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Only global unicast, without IPv6 forms that contain an IPv4 address (mapped, compatible, NAT64,
 * 6to4, Teredo), because the inner address would not be checked.
 */
export function isPublicAddress(address: string): boolean {
  // A zone (`%eth0`) is a local network interface; a public address has none.
  if (isIP(address) === 0 || address.includes('%') || CLOUD_HOSTS.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/** The WHATWG parser has converted decimal, octal, hexadecimal and short forms to four octets. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/**
 * Connects to the checked addresses without resolving the name again, so a changed DNS answer has
 * no effect. A name with one forbidden address is refused.
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

export function guardedLookup(resolve: ResolveHost, isAllowed = isPublicAddress): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const wanted = addresses.filter(
          ({ family }) => !options.family || family === options.family,
        );
        const [first] = wanted;
        if (!first)
          callback(
            Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }),
            [],
          );
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
 * `getaddrinfo` has four threads for the whole process, so that four names with unresponsive
 * servers would block every other lookup. The hosts file is not read, as it has no public names.
 */
async function resolveInDns(hostname: string): Promise<readonly LookupAddress[]> {
  // A resolver reads the system's name servers only when it is created.
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

const MAX_URL_LENGTH = 2_048;

type UrlOptions = Pick<WebhookOptions, 'allowPrivate' | 'requireHttps' | 'ports'>;

/**
 * Does not resolve the name: its addresses may change before a callback is sent.
 * @throws ApiError 422 on `url`
 */
export function checkWebhookUrl(url: string, options: UrlOptions): void {
  const problem = problemOf(url, options);
  if (problem) throw invalidField('url', problem);
}

function problemOf(value: string, { allowPrivate, requireHttps, ports }: UrlOptions) {
  if (value === '') return 'must be an address such as https://example.com/sms-reports';
  if (value.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  // The URL parser would silently drop line breaks and encode spaces.
  const url = /[\s\p{C}\\]/u.test(value) ? undefined : parsedUrl(value);
  if (!url) return 'must be a complete address such as https://example.com/sms-reports';
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'must begin with https:// or http://';
  if (requireHttps && url.protocol === 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user name or password; verify the signature instead';
  if (url.hash !== '' || value.includes('#')) return 'must not have a fragment (#…)';
  if (!hasAllowedPort(url, ports))
    return `must have one of the ports ${written(ports)}; the operator may allow others with WEBHOOK_PORTS`;
  if (!allowPrivate && isInside(url.hostname))
    return 'must be reachable from the public internet; private and loopback addresses are refused unless the gateway runs with WEBHOOK_ALLOW_PRIVATE=true';
  return undefined;
}

export function hasAllowedPort({ protocol, port }: URL, ports: PortRanges): boolean {
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  return ports.some(([from, to]) => number >= from && number <= to);
}

function written(ports: PortRanges): string {
  return ports.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(', ');
}

function isInside(hostname: string): boolean {
  const literal = literalAddress(hostname);
  if (literal !== undefined) return !isPublicAddress(literal);
  return /(^|\.)localhost\.?$/.test(hostname);
}

/** Scheme, host and port: the part of a URL that a log may show. */
export function originOf(url: string): string {
  return parsedUrl(url)?.origin ?? 'invalid';
}
