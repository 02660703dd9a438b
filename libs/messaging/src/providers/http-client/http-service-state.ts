import { HttpService } from '@nestjs/axios';
import type { AxiosInstance } from 'axios';

type Defaults = AxiosInstance['defaults'];

/** Defaults that axios sets itself; the app has set all other ones. */
const STANDARD_KEYS = new Set(
  (
    'transitional adapter transformRequest transformResponse timeout xsrfCookieName xsrfHeaderName ' +
    'maxContentLength maxBodyLength env validateStatus headers'
  ).split(' '),
);

/** Whether nothing on the service can change a request or read an answer. */
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

/** Whether the service is a subclass or a replacement. */
export function hasOwnRequest(http: HttpService): boolean {
  return http.request !== HttpService.prototype.request;
}

/** Whether the app has set an adapter, agent or proxy, which the request must use. */
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
    // An older axios keeps a content type for each method; the client sets its own on every request.
    if (typeof named !== 'object' || named === null) return false;
    for (const name in named) if (name !== 'Accept' && name !== 'Content-Type') return false;
  }
  return true;
}

function count(transforms: unknown): number {
  return Array.isArray(transforms) ? transforms.length : 1;
}
