import axios, {
  AxiosError,
  type AxiosAdapter,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios';
import type { ExchangeTrace, UndiciClient } from './undici.client.js';

/**
 * An axios adapter over undici. Interceptors and transforms run as usual. It covers the needs of a JSON client: no
 * streams, no progress, no redirects. Agents and proxies need axios's own adapter, which {@link HttpClient} keeps
 * where one is set.
 */
export function undiciAdapter(
  client: UndiciClient,
  trace: ExchangeTrace,
  maxBytes: number,
): AxiosAdapter {
  return async (config) => {
    const url = addressOf(config);
    const answer = await client
      .exchange(
        {
          method: (config.method ?? 'get').toUpperCase(),
          origin: url.origin,
          path: url.pathname + url.search,
          headers: headersOf(config),
          body: bodyOf(config),
          maxBytes,
        },
        signalOf(config),
        trace,
      )
      .catch((error: unknown) => {
        throw AxiosError.from(asError(error), codeOf(error), config);
      });
    if (answer.tooLarge)
      throw new AxiosError(
        `The answer is longer than ${maxBytes} bytes`,
        AxiosError.ERR_BAD_RESPONSE,
        config,
        undefined,
        responseOf(config, answer.status, answer.headers, ''),
      );
    const response = responseOf(config, answer.status, answer.headers, answer.body);
    const valid = config.validateStatus;
    if (!valid || valid(response.status)) return response;
    throw new AxiosError(
      `Request failed with status code ${response.status}`,
      response.status < 500 ? AxiosError.ERR_BAD_REQUEST : AxiosError.ERR_BAD_RESPONSE,
      config,
      undefined,
      response,
    );
  };
}

/** Applies `baseURL` and `params` where they are set; axios's own function costs a merge of all options. */
function addressOf(config: InternalAxiosRequestConfig): URL {
  const address = config.baseURL || config.params ? axios.getUri(config) : (config.url ?? '');
  try {
    return new URL(address);
  } catch {
    throw new AxiosError('The request has no valid address', 'ERR_INVALID_URL', config);
  }
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
  const data: unknown = config.data;
  if (data === undefined || data === null) return undefined;
  if (typeof data === 'string' || Buffer.isBuffer(data)) return data;
  throw new AxiosError(
    'An interceptor left a body that is neither text nor bytes',
    AxiosError.ERR_BAD_OPTION_VALUE,
    config,
  );
}

/** The caller's signal, combined with axios's own `timeout` where one is set. */
function signalOf(config: InternalAxiosRequestConfig): AbortSignal {
  const signals: AbortSignal[] = [];
  if (config.signal instanceof AbortSignal) signals.push(config.signal);
  if (config.timeout) signals.push(AbortSignal.timeout(config.timeout));
  return signals.length === 1 && signals[0] ? signals[0] : AbortSignal.any(signals);
}

function responseOf(
  config: InternalAxiosRequestConfig,
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  data: string,
): AxiosResponse {
  return { data, status, statusText: '', headers: { ...headers }, config, request: undefined };
}

/**
 * Converts without `instanceof`, because an abort reason may have any type and errors come from more than one realm.
 */
function asError(error: unknown): Error {
  return typeof error === 'object' && error !== null && 'message' in error
    ? (error as Error)
    : new Error('The request was aborted');
}

function codeOf(error: unknown): string | undefined {
  const { name, code } = asError(error) as { name: string; code?: unknown };
  if (name === 'TimeoutError') return AxiosError.ETIMEDOUT;
  if (name === 'AbortError') return AxiosError.ERR_CANCELED;
  return typeof code === 'string' ? code : undefined;
}
