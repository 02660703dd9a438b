import { isObject } from '../../callbacks/callback-fields.js';
import { own } from '../../message/report-fields.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';

/** A message of SNS, which comes as `text/plain` by default; `undefined`: the body is none. */
export function snsMessage(request: Pick<CallbackRequest, 'body'>): object | undefined {
  const { body } = request;
  const message = typeof body === 'string' ? jsonOf(body) : body;
  return isObject(message) && typeof own(message, 'Type') === 'string' ? message : undefined;
}

/** `undefined`: it is none, such as the words of a service to a new topic. */
export function jsonOf(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
