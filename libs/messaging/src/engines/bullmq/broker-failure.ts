/** Describes the broker's failure and the remedy to operators, without an address or a credential. */
export function reasonOf(error: unknown): string {
  if (isUnreachable(error)) return AWAY;
  const text = error instanceof Error ? error.message : '';
  const [, remedy] = REASONS.find(([pattern]) => pattern.test(text)) ?? [];
  if (remedy !== undefined) return remedy;
  const name =
    /^[A-Z]{3,}\b/.exec(text)?.[0] ?? (error instanceof Error ? error.name : typeof error);
  const { code } = error as { code?: unknown };
  return `the broker fails (${typeof code === 'string' ? code : name}); see its log`;
}

/** The broker did not answer in time. */
export class BrokerTimeoutError extends Error {
  override readonly name = 'BrokerTimeoutError';
}

/** Whether the broker did not answer in time, so that the connection may be dead. */
export function isTimeout(error: unknown): boolean {
  return (
    error instanceof BrokerTimeoutError ||
    (error instanceof Error && /^(?:Command timed out|Query read timeout)/.test(error.message))
  );
}

/** Whether the broker answers with an error. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Whether there is no connection to the broker. */
export function isUnreachable(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: unknown; message?: string };
  return UNREACHABLE.test(`${String(code)} ${message}`);
}

const UNREACHABLE =
  /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|Connection (?:is closed|terminated)|isn't writeable/i;

const AWAY =
  'the broker cannot be reached or does not answer; check that it runs, its address and the network';

const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /\bOOM\b/,
    'the broker is out of memory; raise maxmemory, with the policy noeviction, or free some',
  ],
  [/\bREADONLY\b/, 'the broker is a read-only replica; connect to the primary'],
  [
    /\bMISCONF\b/,
    'the broker cannot write its disk and refuses to change anything; free some space',
  ],
  [/\b(?:NOAUTH|WRONGPASS|NOPERM)\b/, 'the broker refuses the credential; correct it'],
  [/\bLOADING\b/, 'the broker is still loading its data; wait for it'],
  [/timed? ?out/i, AWAY],
];
