import type { ErrorAnswer } from '../../src/api.js';
import { mount } from './router.js';

/** A refusal by the server, or a missing answer, in words that a person can act on. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 where no answer came. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** The error of each wrong field of the request, by its name. */
    readonly fields: Readonly<Record<string, string>> = {},
    /** Header `x-request-id` of a fault of the server, by which its log is found. */
    readonly requestId: string | null = null,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The page calls without a person's action, so that the call does not extend the session. */
  readonly background?: boolean;
  /** The change after which the page reads again. */
  readonly after?: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

let reachable = true;
const watchers = new Set<(reachable: boolean) => void>();

/** Calls the listener when the server stops to answer, and when it answers again. */
export function watchServer(listener: (reachable: boolean) => void): () => void {
  watchers.add(listener);
  return () => void watchers.delete(listener);
}

function tellReachable(now: boolean): void {
  if (now === reachable) return;
  reachable = now;
  for (const watcher of watchers) watcher(now);
}

let signedOut: (() => void) | undefined;

/** Called on every answer 401, before the caller gets its error. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

/**
 * Calls the JSON API below the mount.
 *
 * @param path such as `api/messages?limit=50`
 * @throws {ApiError} a refusal, or no answer
 */
export async function call<T>(
  method: Method,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<T> {
  const response = await request(method, path, body, options);
  const text = await response.text().catch(() => {
    throw noAnswer();
  });
  if (response.ok) return (text ? JSON.parse(text) : undefined) as T;
  const error = refusal(response, text);
  if (error.status === 401) signedOut?.();
  throw error;
}

/** Reads a text of the API, with its headers. @throws {ApiError} a refusal, or no answer */
export async function readText(
  path: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly headers: Headers }> {
  const response = await request('GET', path, undefined, { signal });
  const text = await response.text().catch(() => {
    throw noAnswer();
  });
  if (!response.ok) throw refusal(response, text);
  return { text, headers: response.headers };
}

async function request(
  method: Method,
  path: string,
  body: unknown,
  { signal, background, after }: CallOptions,
): Promise<Response> {
  try {
    const response = await fetch(new URL(path, mount), {
      method,
      signal: signal ?? null,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(background ? { 'x-background': '1' } : {}),
        ...(after ? { 'x-after': after } : {}),
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      },
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(body ?? {}) }),
    });
    tellReachable(true);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    tellReachable(false);
    throw noAnswer();
  }
}

function noAnswer(): ApiError {
  return new ApiError(
    0,
    'no_answer',
    'The server did not answer. Check the connection, then try again.',
  );
}

const WORDS: Readonly<Record<number, string>> = {
  401: 'Sign in to go on.',
  403: 'Your role does not allow this. Ask an admin of the account.',
  404: 'This does not exist, or it belongs to another account.',
  413: 'This is too large to send.',
  429: 'Too many requests. Wait a minute, then try again.',
};

function refusal({ status, headers }: Response, text: string): ApiError {
  let error: Partial<ErrorAnswer['error']> | undefined;
  try {
    error = (JSON.parse(text) as Partial<ErrorAnswer>).error;
  } catch {
    // A proxy in front answers in HTML: its text is of no use to the reader.
  }
  const message =
    error?.message ?? WORDS[status] ?? `The server answered ${status}. Try again in a moment.`;
  const fields = error?.fields?.map(({ path, message }) => [path, message] as const);
  return new ApiError(
    status,
    error?.code ?? String(status),
    message,
    Object.fromEntries(fields ?? []),
    status >= 500 ? headers.get('x-request-id') : null,
  );
}

/** A query string of the values that are set, with `?` in front. */
export function queryOf(
  values: Readonly<Record<string, string | number | undefined | null>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}
