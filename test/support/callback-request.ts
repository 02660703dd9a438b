import type {
  CallbackRequest,
  CallbackVerifier,
} from '../../libs/messaging/src/ports/callback-parser.js';

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
    receivedAt: Date.now(),
    ...changes,
  };
}

export function proven(
  verifier: CallbackVerifier,
  requests: readonly Partial<CallbackRequest>[],
): Promise<boolean[]> {
  return Promise.all(requests.map(async (request) => verifier.verify(callbackRequest(request))));
}
