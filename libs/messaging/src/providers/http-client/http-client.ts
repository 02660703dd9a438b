import type { HttpService } from '@nestjs/axios';
import { type AxiosRequestConfig, type AxiosResponse, isAxiosError } from 'axios';
import { firstValueFrom } from 'rxjs';
import { hasOwnRequest, hasOwnWay, isUntouched } from './http-service-state.js';
import { networkFailure } from './network-failure.js';
import { undiciAdapter } from './undici.adapter.js';
import { type ExchangeTrace, type HttpRequest, UndiciClient } from './undici.client.js';

export interface ClientRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, after `baseUrl`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text is sent unchanged; any other value is sent as JSON. */
  readonly body?: string | Readonly<Record<string, unknown>>;
  /** Most bytes read of the answer. */
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

/**
 * HTTP client of the providers. It applies the interceptors, defaults and overrides of `HttpService`. A `HttpService`
 * without changes has none, so its requests go directly to undici, which is several times faster.
 *
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
    this.#origin = new URL(baseUrl).origin;
    this.#basePath = baseUrl.slice(this.#origin.length);
    this.#client = new UndiciClient(connections);
  }

  /** @throws SubmitFailure where no complete answer arrived; never an error that contains the request */
  async send(request: ClientRequest, signal: AbortSignal): Promise<ClientAnswer> {
    const trace: ExchangeTrace = { reach: 'untried' };
    try {
      if (!isUntouched(this.http)) return await this.#throughHttpService(request, signal, trace);
      const answer = await this.#client.exchange(this.#direct(request), signal, trace);
      const { status, headers, body } = answer;
      return { status, retryAfter: oneOf(headers['retry-after']), body: parsed(body), text: body };
    } catch (error) {
      // The caught error may contain the request with its credential, so it is not passed on.
      throw networkFailure({ code: codeOf(error), reach: trace.reach, aborted: abortOf(signal) });
    }
  }

  /** Gives requests in flight one second to end. */
  close(): Promise<void> {
    return this.#client.close(1_000);
  }

  #direct({ method, path, headers, body, maxBytes }: ClientRequest): HttpRequest {
    return {
      method,
      origin: this.#origin,
      path: this.#basePath + path,
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      maxBytes,
    };
  }

  async #throughHttpService(
    request: ClientRequest,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<ClientAnswer> {
    const ownWay = hasOwnWay(this.http);
    // Custom axios adapters do not report whether bytes were sent.
    if (ownWay) trace.reach = 'unknown';
    const response = await this.#ask({
      method: request.method,
      url: this.baseUrl + request.path,
      headers: { ...request.headers },
      ...(request.body && { data: request.body }),
      signal,
      maxRedirects: 0,
      maxContentLength: request.maxBytes,
      ...(!ownWay && { adapter: undiciAdapter(this.#client, trace, request.maxBytes) }),
    }).catch((error: unknown): AxiosResponse<unknown> => {
      if (isAxiosError<unknown>(error) && error.response) return error.response;
      throw error;
    });
    const { status, headers, data } = response;
    const retryAfter: unknown = headers['retry-after'];
    return {
      status,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      body: typeof data === 'string' ? parsed(data) : data,
      text: typeof data === 'string' ? data : '',
    };
  }

  /** Skips the Observable of an unchanged `request()`, which only costs time. */
  #ask(config: AxiosRequestConfig): Promise<AxiosResponse<unknown>> {
    return hasOwnRequest(this.http)
      ? firstValueFrom(this.http.request<unknown>(config))
      : this.http.axiosRef.request<unknown>(config);
  }
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
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } | null };
  const found = code ?? cause?.code;
  return typeof found === 'string' ? found : undefined;
}

function abortOf(signal: AbortSignal): 'timeout' | 'stop' | undefined {
  if (!signal.aborted) return undefined;
  const { name } = (signal.reason ?? {}) as { name?: unknown };
  return name === 'TimeoutError' ? 'timeout' : 'stop';
}
