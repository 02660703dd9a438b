/** What a log may hold of an error. */
export interface ErrorDescription {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

/** Name, code, message and stack; never the other properties: a failed query carries its parameters. */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error, message: 'not an Error' };
  const { code, stack, cause } = error as Error & { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(stack ? { stack } : {}),
    ...(cause instanceof Error ? { cause: describeError(cause) } : {}),
  };
}
