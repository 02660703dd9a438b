import { HttpService } from '@nestjs/axios';
import axios, {
  type AxiosAdapter,
  AxiosError,
  type AxiosInstance,
  type AxiosRequestConfig,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
  isAxiosError,
} from 'axios';
import { firstValueFrom } from 'rxjs';
import { networkFailure } from './http-failures.js';
import { type ExchangeTrace, type HttpAnswer, UndiciClient } from './undici.client.js';

export interface ClientRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, after `baseUrl`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text is sent unchanged; any other value is sent as JSON. */
  readonly body?: string | Readonly<Record<string, unknown>> | undefined;
  readonly maxBytes: number;
}

export interface ClientAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The JSON body; `undefined` where the body is no JSON, or too large. */
  readonly body: unknown;
  /** The body as received; empty where HttpService has parsed it as JSON. */
  readonly text: string;
}

type Defaults = AxiosInstance['defaults'];

/** Defaults that axios sets itself; the app has set all other ones. */
const STANDARD_KEYS = new Set(
  (
    'transitional adapter transformRequest transformResponse timeout xsrfCookieName xsrfHeaderName ' +
    'maxContentLength maxBodyLength env validateStatus headers'
  ).split(' '),
);

/**
 * HTTP client of the providers. It applies the interceptors, defaults and overrides of
 * `HttpService`; without any, requests go directly to undici, which is several times faster.
 * ```
 * untouched                        → undici
 * interceptors, headers, timeout … → HttpService → undici
 * own adapter, agent or proxy      → HttpService as it is
 * ```
 */
export class HttpClient {
  readonly #origin: string;
  readonly #basePath: string;
  readonly #client: UndiciClient;

  constructor(
    private readonly http: HttpService,
    private readonly baseUrl: string,
    connections: number,
  ) {
    const { origin, pathname } = new URL(baseUrl);
    this.#origin = origin;
    this.#basePath = pathname === '/' ? '' : pathname;
    this.#client = new UndiciClient(connections);
  }

  /** @throws SubmitFailure where no complete answer arrived, never an error with the request */
  async send(request: ClientRequest, signal: AbortSignal): Promise<ClientAnswer> {
    const trace: ExchangeTrace = { reach: 'untried' };
    try {
      return isUntouched(this.http)
        ? await this.#direct(request, signal, trace)
        : await this.#throughHttpService(request, signal, trace);
    } catch (error) {
      // The caught error may contain the request with its credential, so it is not passed on.
      throw networkFailure(codeOf(error), trace.reach, signal);
    }
  }

  /** Gives requests in flight one second to end. */
  close(): Promise<void> {
    return this.#client.close(1_000);
  }

  async #direct(
    { method, path, headers: own, body: given, maxBytes }: ClientRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<ClientAnswer> {
    const body = typeof given === 'string' ? given : JSON.stringify(given);
    const {
      status,
      headers,
      body: text,
    } = await this.#client.exchange(
      { method, origin: this.#origin, path: this.#basePath + path, headers: own, body, maxBytes },
      signal,
      trace,
    );
    return { status, retryAfter: oneOf(headers['retry-after']), body: parsed(text), text };
  }

  async #throughHttpService(
    { path, maxBytes, body, ...request }: ClientRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<ClientAnswer> {
    const own = hasOwnWay(this.http);
    // Custom axios adapters do not report whether bytes were sent.
    if (own) trace.reach = 'unknown';
    const asked = this.#ask({
      ...request,
      headers: { ...request.headers },
      url: this.baseUrl + path,
      data: body,
      signal,
      maxRedirects: 0,
      maxContentLength: maxBytes,
      ...(!own && { adapter: undiciAdapter(this.#client, trace, maxBytes) }),
    });
    const { status, headers, data } = await asked.catch((error: unknown) => {
      if (isAxiosError<unknown>(error) && error.response) return error.response;
      throw error;
    });
    const text = typeof data === 'string' ? data : '';
    const retryAfter = oneOf(headers['retry-after'] as string | undefined);
    return { status, retryAfter, body: typeof data === 'string' ? parsed(data) : data, text };
  }

  /** Skips the Observable of an unchanged `request()`, which cancels each request after its end. */
  #ask(config: AxiosRequestConfig): Promise<AxiosResponse<unknown>> {
    return this.http.request === HttpService.prototype.request
      ? this.http.axiosRef.request<unknown>(config)
      : firstValueFrom(this.http.request<unknown>(config));
  }
}

/** Whether nothing on the service can change a request or read an answer. */
export function isUntouched(http: HttpService): boolean {
  if (http.request !== HttpService.prototype.request || hasOwnWay(http)) return false;
  const { interceptors, defaults } = http.axiosRef;
  return isEmpty(interceptors.request) && isEmpty(interceptors.response) && isStandard(defaults);
}

/** Whether the app replaced the service or set an adapter, agent or proxy, which must be used. */
export function hasOwnWay(http: HttpService): boolean {
  const defaults = (http as Partial<HttpService>).axiosRef?.defaults;
  if (!defaults) return true;
  const { adapter, httpAgent, httpsAgent, proxy, socketPath } = defaults;
  const standard = Array.isArray(adapter) && adapter.every((name) => typeof name === 'string');
  return !standard || Boolean(httpAgent ?? httpsAgent ?? proxy ?? socketPath);
}

/** Axios keeps `null` in place of an ejected interceptor. */
function isEmpty({ handlers }: { handlers?: unknown[] }): boolean {
  return handlers !== undefined && handlers.every((handler) => handler === null);
}

function isStandard(defaults: Defaults): boolean {
  for (const key in defaults)
    if (!STANDARD_KEYS.has(key) && defaults[key as keyof Defaults] !== undefined) return false;
  return (
    !defaults.timeout &&
    defaults.maxContentLength === -1 &&
    defaults.maxBodyLength === -1 &&
    count(defaults.transformRequest) === 1 &&
    count(defaults.transformResponse) === 1 &&
    hasStandardHeaders(defaults)
  );
}

function hasStandardHeaders({ headers }: Defaults): boolean {
  for (const group in headers) {
    const named: unknown = headers[group as keyof typeof headers];
    // An older axios keeps a content type for each method; the client always sets its own.
    if (typeof named !== 'object' || named === null) return false;
    for (const name in named) if (name !== 'Accept' && name !== 'Content-Type') return false;
  }
  return true;
}

function count(transforms: unknown): number {
  return Array.isArray(transforms) ? transforms.length : 1;
}

/** Texts and bytes over undici, without redirects; interceptors and transforms run as usual. */
function undiciAdapter(client: UndiciClient, trace: ExchangeTrace, maxBytes: number): AxiosAdapter {
  return async (config) => {
    // getUri() merges all options, so it is called only where it changes the address.
    const address = config.baseURL || config.params ? axios.getUri(config) : (config.url ?? '');
    const { origin, pathname, search } = new URL(address);
    const signals: AbortSignal[] = [];
    if (config.signal) signals.push(config.signal as AbortSignal);
    if (config.timeout) signals.push(AbortSignal.timeout(config.timeout));
    const answer = await client
      .exchange(
        {
          method: (config.method ?? 'get').toUpperCase(),
          origin,
          path: pathname + search,
          headers: headersOf(config),
          body: bodyOf(config),
          maxBytes,
        },
        signals.length === 1 && signals[0] ? signals[0] : AbortSignal.any(signals),
        trace,
      )
      .catch((error: Error) => {
        throw AxiosError.from(error, codeOf(error), config);
      });
    return settled(config, answer);
  };
}

function headersOf(config: InternalAxiosRequestConfig): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(config.headers.toJSON()))
    if (value !== null && value !== undefined)
      headers[name.toLowerCase()] = Array.isArray(value) ? value : String(value);
  // undici computes the length from the body that it sends.
  delete headers['content-length'];
  return headers;
}

function bodyOf(config: InternalAxiosRequestConfig): string | Buffer | undefined {
  const data: unknown = config.data ?? undefined;
  if (data === undefined || typeof data === 'string' || Buffer.isBuffer(data)) return data;
  throw new AxiosError(
    'An interceptor left a body that is neither text nor bytes',
    AxiosError.ERR_BAD_OPTION_VALUE,
    config,
  );
}

function settled(config: InternalAxiosRequestConfig, { status, headers, body }: HttpAnswer) {
  const response: AxiosResponse = {
    data: body,
    status,
    statusText: '',
    headers: { ...headers },
    config,
  };
  if (config.validateStatus?.(status) ?? true) return response;
  throw new AxiosError(
    `Request failed with status code ${status}`,
    status < 500 ? AxiosError.ERR_BAD_REQUEST : AxiosError.ERR_BAD_RESPONSE,
    config,
    undefined,
    response,
  );
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

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Reads the code without `instanceof`, because errors come from more than one realm. */
function codeOf(error: unknown): string | undefined {
  const { code, cause, name } = (error ?? {}) as {
    code?: unknown;
    cause?: { code?: unknown } | null;
    name?: unknown;
  };
  if (name === 'TimeoutError') return AxiosError.ETIMEDOUT;
  if (name === 'AbortError') return AxiosError.ERR_CANCELED;
  const found = code ?? cause?.code;
  return typeof found === 'string' ? found : undefined;
}
