import { subscribe } from 'node:diagnostics_channel';
import { type Answer, type AppEvent, moment } from './protocol.js';

interface RequestEvent {
  readonly request: { readonly headers: readonly string[]; readonly body: Buffer };
  readonly response?: { readonly statusCode: number };
}

/**
 * Loaded into a gateway with `--import`, beside an IPC channel, it tells of each request with an
 * idempotency key that undici starts, and of the answer.
 */
const keys = new WeakMap<object, string>();

function tell(event: AppEvent): void {
  process.send?.(event);
}

function answered({ request }: RequestEvent, answer: Answer): void {
  const key = keys.get(request);
  if (key !== undefined) tell({ event: 'answered', key, answer, at: moment() });
}

subscribe('undici:request:create', (event) => {
  const { request } = event as RequestEvent;
  const name = request.headers.indexOf('idempotency-key');
  const key = name < 0 ? undefined : request.headers[name + 1];
  if (key === undefined) return;
  keys.set(request, key);
  const { to } = JSON.parse(request.body.toString()) as { to: string | string[] };
  tell({ event: 'starting', key, messages: [to].flat().length, at: moment() });
});
subscribe('undici:request:headers', (event) => {
  const { response } = event as RequestEvent;
  answered(event as RequestEvent, response?.statusCode === 200 ? 'final' : 'uncertain');
});
subscribe('undici:request:error', (event) => answered(event as RequestEvent, 'uncertain'));
