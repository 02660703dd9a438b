import type { CallbackRequest, CallbackVerifier } from '../ports/delivery-report-parser.js';

/** A POST of nothing from nowhere, but for what the test says of it. */
export function callbackRequest(changes: Partial<CallbackRequest> = {}): CallbackRequest {
  return {
    method: 'POST',
    url: '/',
    pathSecret: undefined,
    headers: {},
    query: {},
    body: undefined,
    rawBody: undefined,
    ip: '::1',
    ...changes,
  };
}

/** Whether each of the requests is proven. */
export function proven(
  verifier: CallbackVerifier,
  requests: readonly Partial<CallbackRequest>[],
): Promise<boolean[]> {
  return Promise.all(requests.map(async (request) => verifier.verify(callbackRequest(request))));
}
