import { HttpService } from '@nestjs/axios';
import type { AxiosInstance } from 'axios';

type Defaults = AxiosInstance['defaults'];

/** What axios itself sets; whatever else is there, somebody configured. */
const STANDARD_KEYS = new Set(
  (
    'transitional adapter transformRequest transformResponse timeout xsrfCookieName xsrfHeaderName ' +
    'maxContentLength maxBodyLength env validateStatus headers'
  ).split(' '),
);

/** Nothing on the service could change a request or see an answer. */
export function isUntouched(http: HttpService): boolean {
  if (hasOwnRequest(http)) return false;
  const { interceptors, defaults } = http.axiosRef;
  return (
    isEmpty(interceptors.request) &&
    isEmpty(interceptors.response) &&
    !hasOwnWay(http) &&
    isStandard(defaults)
  );
}

/** The service is a subclass or a stand-in. */
export function hasOwnRequest(http: HttpService): boolean {
  return http.request !== HttpService.prototype.request;
}

/** An adapter, agent or proxy was chosen: the request must go where that leads. */
export function hasOwnWay(http: HttpService): boolean {
  const defaults = (http as Partial<HttpService>).axiosRef?.defaults;
  if (!defaults) return true;
  const { adapter } = defaults;
  const standard = Array.isArray(adapter) && adapter.every((name) => typeof name === 'string');
  return (
    !standard ||
    Boolean(defaults.httpAgent ?? defaults.httpsAgent ?? defaults.proxy ?? defaults.socketPath)
  );
}

/** An ejected interceptor leaves `null`. */
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
    // An older axios kept a content type per method; ours is set on every request.
    if (typeof named !== 'object' || named === null) return false;
    for (const name in named) if (name !== 'Accept' && name !== 'Content-Type') return false;
  }
  return true;
}

function count(transforms: unknown): number {
  return Array.isArray(transforms) ? transforms.length : 1;
}
