import { Readable } from 'node:stream';
import { InboundMediaError } from '../../message/errors.js';
import type { HttpAnswer, HttpRequester } from '../../ports/message-transport.js';
import { networkFailure } from './http-failures.js';
import { type ExchangeTrace, type HttpRequest, UndiciClient } from './undici.client.js';

export interface ClientRequest extends Omit<HttpRequest, 'method' | 'origin' | 'body'> {
  readonly method: 'GET' | 'POST';
  /** Path and query, after `baseUrl`. */
  readonly path: string;
  /** Texts and bytes are sent unchanged; any other value is sent as JSON. */
  readonly body?: string | Buffer | Readonly<Record<string, unknown>> | undefined;
}

export interface ClientAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The JSON body; `undefined` where the body is no JSON, or too large. */
  readonly body: unknown;
  /** The body as received; empty where HttpService has parsed it as JSON. */
  readonly text: string;
}

/** An answer whose body is read as it comes. */
export interface FileAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly stream: Readable;
}

/** Most connections to a host for files; further files wait. */
const FILE_CONNECTIONS = 32;

/** HTTP client of the providers: undici, or the app's `HttpService` where it gives one. */
export class HttpClient {
  readonly #client: UndiciClient;
  /** Of its own, so that files, which take minutes, delay no message. */
  #files: UndiciClient | undefined;
  readonly #base: { readonly origin: string; readonly pathname: string };

  constructor(
    private readonly http: HttpRequester | undefined,
    private readonly baseUrl: string,
    connections: number,
  ) {
    const { origin, pathname } = new URL(baseUrl);
    this.#base = { origin, pathname: pathname === '/' ? '' : pathname };
    this.#client = new UndiciClient(connections);
  }

  /** @throws SubmitFailure where no complete answer arrived, never an error with the request */
  async send(
    request: ClientRequest,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<ClientAnswer> {
    const trace: ExchangeTrace = { reach: 'untried', written };
    try {
      return this.http
        ? await this.#throughHttpService(this.http, request, signal, trace)
        : await this.#direct(request, signal, trace);
    } catch (error) {
      // The caught error may contain the request with its credential, so it is not passed on.
      throw networkFailure(codeOf(error), trace.reach, signal);
    }
  }

  /**
   * Gets an address without following redirects.
   * @throws InboundMediaError `unavailable` where no answer begins, never an error with the request
   */
  async open(
    url: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<FileAnswer> {
    try {
      if (this.http) return await opened(this.http, url, headers, signal);
      this.#files ??= new UndiciClient(FILE_CONNECTIONS);
      return await this.#files.open(url, headers, signal);
    } catch (error) {
      // The caught error may contain the request with its credential, so it is not passed on.
      throw new InboundMediaError(
        'unavailable',
        `The host of the file did not answer (${codeOf(error) ?? 'no code'}); try again`,
      );
    }
  }

  /** Gives requests in flight one second to end. */
  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#files?.close()]);
  }

  async #direct(
    request: ClientRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<ClientAnswer> {
    const { origin, pathname } = this.#base;
    const { method, path, headers, body, maxBytes } = request;
    const answer = await this.#client.exchange(
      {
        method,
        origin,
        path: pathname + path,
        headers,
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
        maxBytes,
      },
      signal,
      trace,
    );
    return answerOf(answer.status, answer.headers, answer.body);
  }

  /** With its interceptors, defaults, adapter, agents and proxy. */
  async #throughHttpService(
    { axiosRef }: HttpRequester,
    { method, path, headers, body, maxBytes }: ClientRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<ClientAnswer> {
    // Axios transforms a body after all interceptors. It does not tell whether bytes were sent.
    const handedOn = (data: unknown) => ((trace.reach = 'unknown'), data);
    const config = {
      method,
      url: this.baseUrl + path,
      headers,
      data: body,
      signal,
      maxRedirects: 0,
      maxContentLength: maxBytes,
      transformRequest: [axiosRef.defaults.transformRequest ?? [], handedOn].flat(),
    };
    const { status, headers: given, data } = await axiosRef.request(config).catch(responseOf);
    return answerOf(status, given, data);
  }
}

/** Through the app's `HttpService`, with its interceptors, agents and proxy. */
async function opened(
  { axiosRef }: HttpRequester,
  { href: url }: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<FileAnswer> {
  const config = { method: 'GET', url, headers, signal, maxRedirects: 0, responseType: 'stream' };
  const answer = await axiosRef.request({ ...config, validateStatus: () => true });
  const { status, headers: given, data } = answer;
  if (!(data instanceof Readable)) throw new TypeError('the HttpService gives no stream');
  return { status, headers: given, stream: data };
}

/** Axios throws where the status is none of success, and where the answer breaks off. */
function responseOf(error: unknown): HttpAnswer {
  const { code, response } = Object(error) as { code?: string; response?: HttpAnswer };
  if (response?.data === undefined || !code?.startsWith('ERR_BAD_RE')) throw error;
  return response;
}

function answerOf(
  status: number,
  headers: Readonly<Record<string, unknown>>,
  data: unknown,
): ClientAnswer {
  const given = headers['retry-after'];
  const first: unknown = Array.isArray(given) ? given[0] : given;
  const retryAfter = typeof first === 'string' ? first : undefined;
  return typeof data === 'string'
    ? { status, retryAfter, headers, body: parsed(data), text: data }
    : { status, retryAfter, headers, body: data, text: '' };
}

function parsed(text: string): unknown {
  // Plain text is a common answer, so it is detected without the cost of a thrown error.
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the code without `instanceof`, because errors come from more than one realm. */
function codeOf(error: unknown): string | undefined {
  const { name, code, cause } = (error ?? {}) as {
    name?: unknown;
    code?: unknown;
    cause?: { code?: unknown } | null;
  };
  if (name === 'TimeoutError') return 'ETIMEDOUT';
  if (name === 'AbortError') return 'ERR_CANCELED';
  const found = code ?? cause?.code;
  return typeof found === 'string' ? found : undefined;
}
