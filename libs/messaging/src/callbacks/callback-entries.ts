import type { CallbackRequest } from '../ports/delivery-report-parser.js';

/** The body is nothing a callback could be. */
export class UnreadableCallbackError extends Error {
  constructor(message: string) {
    super(message);
    this.name = UnreadableCallbackError.name;
  }
}

/**
 * What a callback lists: a POST's body alone, a GET's query; an array's entries or the one object.
 * @throws UnreadableCallbackError where there is no entry at all.
 */
export function callbackEntries({ method, query, body }: CallbackRequest): readonly unknown[] {
  return entriesOf(method === 'GET' ? query : body);
}

function entriesOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  if (typeof content === 'object' && content !== null && Object.keys(content).length > 0)
    return [content];
  throw new UnreadableCallbackError('no JSON object, array or form');
}
