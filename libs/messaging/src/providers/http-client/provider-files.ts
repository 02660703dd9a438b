import { InboundMediaError } from '../../message/errors.js';
import type { InboundMedia } from '../../ports/message-transport.js';
import type { FileAnswer, HttpClient } from './http-client.js';
import { parsedUrl } from '../../message/url.js';

/** Where a provider serves files. A host is a name, or `*.` and a name for all below it. */
export interface FilePlaces {
  /** Paths of files at hosts that get the provider's credential: its API must answer no other GET. */
  readonly path: RegExp;
  /** Those hosts, beside that of `baseUrl`. @default none */
  readonly own?: readonly string[];
  /** Storage, whose addresses are signed: it gets no credential. @default none */
  readonly open?: readonly string[];
}

/** What a file is fetched with. */
export interface FileAccess extends FilePlaces {
  /** The provider, for errors. */
  readonly name: string;
  readonly baseUrl: string;
  readonly credential: Readonly<Record<string, string>>;
}

const MOST_REDIRECTS = 3;
/** Meta answers no request without one. */
const AGENT = 'dundun';

/**
 * Opens a file at an address of the provider. An address may be forged where callbacks are not verified,
 * and a redirect may lead anywhere: each is of the provider's hosts, or nothing is asked.
 * @throws InboundMediaError
 */
export async function openFile(
  client: Pick<HttpClient, 'open'>,
  address: string,
  access: FileAccess,
  signal: AbortSignal,
): Promise<InboundMedia> {
  let url = parsedUrl(address);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const trust = url && trustOf(url, access);
    if (!url || !trust)
      throw new InboundMediaError(
        'unsupported',
        `The address of the file is none of the files of the provider ${access.name} (its host or its path), and is not called`,
      );
    const headers = {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': AGENT,
      ...(trust === 'own' && access.credential),
    };
    const answer = await client.open(url, headers, signal);
    if (answer.status >= 200 && answer.status < 300) return mediaOf(answer);
    answer.stream.destroy();
    const location = headerOf(answer, 'location');
    if (answer.status < 300 || answer.status >= 400 || location === undefined)
      throw failureOf(answer.status, trust, access.name);
    url = parsedUrl(location, url.href);
  }
  throw new InboundMediaError(
    'unavailable',
    `The provider ${access.name} redirects more than ${MOST_REDIRECTS} times`,
  );
}

/** Who answers at the address: over TLS, at the usual port, unless `baseUrl` says otherwise. */
function trustOf(url: URL, { path, own = [], open = [], baseUrl }: FileAccess) {
  if (url.username !== '' || url.password !== '') return undefined;
  const isBase = url.origin === new URL(baseUrl).origin;
  if (!isBase && (url.protocol !== 'https:' || url.port !== '')) return undefined;
  const isOf = (hosts: readonly string[]) => hosts.some((host) => isHost(url.hostname, host));
  if (isBase || isOf(own)) return path.test(url.pathname) ? 'own' : undefined;
  return isOf(open) ? 'open' : undefined;
}

function isHost(name: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

function failureOf(status: number, trust: 'own' | 'open', provider: string): InboundMediaError {
  // A signed address that is over is forbidden.
  if (status === 404 || status === 410 || (status === 403 && trust === 'open'))
    return new InboundMediaError(
      'media_expired',
      `The provider ${provider} has the file no longer (${status})`,
    );
  if (status === 413)
    return new InboundMediaError(
      'media_too_large',
      `The file is larger than the provider ${provider} passes on`,
    );
  if (status === 401 || status === 403)
    return new InboundMediaError(
      'unavailable',
      `The provider ${provider} refuses its credential for the file (${status}); check what it may read`,
    );
  return new InboundMediaError(
    'unavailable',
    `The provider ${provider} did not give the file (${status}); try again`,
  );
}

function mediaOf(answer: FileAnswer): InboundMedia {
  const length = headerOf(answer, 'content-length') ?? '';
  return {
    stream: answer.stream,
    contentType: headerOf(answer, 'content-type') ?? null,
    filename: null,
    size: /^\d{1,15}$/.test(length) ? Number(length) : null,
  };
}

function headerOf({ headers }: FileAnswer, name: string): string | undefined {
  const value = headers[name];
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === 'string' ? text : typeof text === 'number' ? String(text) : undefined;
}
