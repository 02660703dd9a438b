import { HttpService } from '@nestjs/axios';
import {
  type AxiosAdapter,
  AxiosError,
  type AxiosRequestConfig,
  type AxiosResponse,
  isAxiosError,
} from 'axios';
import { isDeepStrictEqual } from 'node:util';
import { firstValueFrom } from 'rxjs';
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
  /** The JSON body; `undefined` where the body is no JSON, or too large. */
  readonly body: unknown;
  /** The body as received; empty where HttpService has parsed it as JSON. */
  readonly text: string;
}

/** Defaults of an unchanged instance, from the build of axios that HttpService uses. */
const STANDARD = new HttpService().axiosRef.create().defaults;

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
  readonly #client: UndiciClient;
  /** Compared at the first request only, as it takes 10 µs. */
  readonly #base: { readonly origin: string; readonly pathname: string };
  #hasStandardDefaults: boolean | undefined;

  constructor(
    private readonly http: HttpService,
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
      this.#hasStandardDefaults ??= hasStandardDefaults(this.http);
      return this.#hasStandardDefaults && !isIntercepted(this.http)
        ? await this.#direct(request, signal, trace)
        : await this.#throughHttpService(request, signal, trace);
    } catch (error) {
      // The caught error may contain the request with its credential, so it is not passed on.
      throw networkFailure(codeOf(error), trace.reach, signal);
    }
  }

  /** Gives requests in flight one second to end. */
  close(): Promise<void> {
    return this.#client.close();
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

  async #throughHttpService(
    request: ClientRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<ClientAnswer> {
    let response: AxiosResponse<unknown>;
    try {
      response = await this.#ask(this.#configOf(request, signal, trace));
    } catch (error) {
      if (!isAxiosError<unknown>(error) || !error.response) throw error;
      ({ response } = error);
    }
    return answerOf(response.status, response.headers, response.data);
  }

  /** Field by field: rest and spread properties take a tenth of the CPU of a request. */
  #configOf(
    { method, path, headers, body, maxBytes }: ClientRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): AxiosRequestConfig {
    const config: AxiosRequestConfig = {
      method,
      url: this.baseUrl + path,
      headers,
      data: body,
      signal,
      maxRedirects: 0,
      maxContentLength: maxBytes,
    };
    // Custom axios adapters do not report whether bytes were sent.
    if (hasOwnWay(this.http)) trace.reach = 'unknown';
    else config.adapter = this.#adapter(maxBytes, signal, trace);
    return config;
  }

  /** Skips the Observable of an unchanged `request()`: it cancels each request after its end. */
  #ask(config: AxiosRequestConfig): Promise<AxiosResponse<unknown>> {
    return this.http.request === HttpService.prototype.request
      ? this.http.axiosRef.request(config)
      : firstValueFrom(this.http.request(config));
  }

  /** Sends texts and bytes over undici; interceptors and transforms run as usual. */
  #adapter(maxBytes: number, signal: AbortSignal, trace: ExchangeTrace): AxiosAdapter {
    return async (config) => {
      config.headers.delete('content-length'); // undici computes it from the body that it sends
      const { method = 'get', timeout, data, validateStatus } = config;
      // getUri() merges all options again.
      const { url = '' } =
        config.baseURL || config.params ? { url: this.http.axiosRef.getUri(config) } : config;
      const { origin, pathname, search } = new URL(url);
      const { status, headers, body } = await this.#client
        .exchange(
          {
            method: method.toUpperCase(),
            origin,
            path: pathname + search,
            headers: config.headers.toJSON(true),
            body: (data as string | Buffer | null | undefined) ?? undefined,
            maxBytes,
          },
          timeout ? AbortSignal.any([signal, AbortSignal.timeout(timeout)]) : signal,
          trace,
        )
        .catch((error: Error) => {
          throw AxiosError.from(error, codeOf(error), config);
        });
      const answer = { status, statusText: '', headers: { ...headers }, data: body, config };
      const response = answer as AxiosResponse;
      if (validateStatus?.(status) ?? true) return response;
      const code = status < 500 ? AxiosError.ERR_BAD_REQUEST : AxiosError.ERR_BAD_RESPONSE;
      const message = `Request failed with status code ${status}`;
      throw new AxiosError(message, code, config, undefined, response);
    };
  }
}

/** Whether the app has replaced `request()` or registered an interceptor. */
export function isIntercepted(http: HttpService): boolean {
  const { interceptors } = http.axiosRef;
  return (
    http.request !== HttpService.prototype.request ||
    hasHandlers(interceptors.request) ||
    hasHandlers(interceptors.response)
  );
}

/** Axios keeps `null` in place of an ejected interceptor. */
function hasHandlers({ handlers = [] }: { handlers?: unknown[] }): boolean {
  return handlers.some((handler) => handler !== null);
}

export function hasStandardDefaults(http: HttpService): boolean {
  const defaults = Object.entries((http as Partial<HttpService>).axiosRef?.defaults ?? {});
  return defaults.length > 0 && defaults.every(([name, value]) => isStandard(name, value));
}

/** Whether the app replaced the service or set an adapter, agent or proxy, which must be used. */
export function hasOwnWay(http: HttpService): boolean {
  const defaults = (http as Partial<HttpService>).axiosRef?.defaults;
  if (!defaults) return true;
  const { adapter, httpAgent, httpsAgent, proxy, socketPath } = defaults;
  const hasOwnRoute = Boolean(httpAgent ?? httpsAgent ?? proxy ?? socketPath);
  return hasOwnRoute || !isStandardAdapter(adapter);
}

/** Asked at each request. Axios copies the list of names of its own adapters. */
function isStandardAdapter(adapter: unknown): boolean {
  const names: unknown = STANDARD.adapter;
  if (!Array.isArray(names) || !Array.isArray(adapter)) return adapter === names;
  return adapter.length === names.length && adapter.every((name, n) => name === names[n]);
}

function isStandard(name: string, value: unknown): boolean {
  return isDeepStrictEqual(value, STANDARD[name as keyof typeof STANDARD]);
}

function answerOf(
  status: number,
  headers: Readonly<Record<string, unknown>>,
  data: unknown,
): ClientAnswer {
  const given = headers['retry-after'];
  const retryAfter = (Array.isArray(given) ? given[0] : given) as string | undefined;
  return typeof data === 'string'
    ? { status, retryAfter, body: parsed(data), text: data }
    : { status, retryAfter, body: data, text: '' };
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
  if (name === 'TimeoutError') return AxiosError.ETIMEDOUT;
  if (name === 'AbortError') return AxiosError.ERR_CANCELED;
  const found = code ?? cause?.code;
  return typeof found === 'string' ? found : undefined;
}
