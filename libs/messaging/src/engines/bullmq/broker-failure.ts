export class BrokerTimeoutError extends Error {
  override readonly name = 'BrokerTimeoutError';
}

/** Whether the broker did not answer in time, so that the connection may be dead. */
export function isTimeout(error: unknown): boolean {
  return error instanceof BrokerTimeoutError || textOf(error).startsWith('Command timed out');
}

export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

export function isUnreachable(error: unknown): boolean {
  return /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|Connection is closed|isn't writeable/i.test(
    `${codeOf(error)} ${textOf(error)}`,
  );
}

/** Failure and remedy for operators, without an address or a credential. */
export function reasonOf(error: unknown): string {
  if (isUnreachable(error)) return AWAY;
  const text = textOf(error);
  const [, remedy] = REASONS.find(([pattern]) => pattern.test(text)) ?? [];
  const kind = /^[A-Z]{3,}\b/.exec(text)?.[0] ?? (error instanceof Error ? error.name : 'unknown');
  return remedy ?? `the broker fails (${codeOf(error) || kind}); see its log`;
}

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

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
