/** What is wrong with a broker, for people, with the remedy; never an address or a credential. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : '';
  const [, remedy] = REASONS.find(([pattern]) => pattern.test(text)) ?? [];
  if (remedy !== undefined) return remedy;
  const name = error instanceof Error ? error.name : typeof error;
  const code = (error as { code?: unknown } | undefined)?.code;
  return `the broker fails (${typeof code === 'string' ? code : name}); see its log`;
}

/** The broker never answered. */
export class BrokerTimeoutError extends Error {
  override readonly name = 'BrokerTimeoutError';
}

/** The connection may be dead: nobody answers on it. */
export function isSilence(error: unknown): boolean {
  return (
    error instanceof BrokerTimeoutError ||
    (error instanceof Error && /^(?:Command timed out|Query read timeout)/.test(error.message))
  );
}

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
  [
    /ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|Connection (?:is closed|terminated)|isn't writeable|timed? ?out/i,
    'the broker cannot be reached or does not answer; check that it runs, its address and the network',
  ],
];
