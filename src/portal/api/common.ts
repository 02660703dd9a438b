export interface PortalError {
  readonly error: {
    readonly code: string;
    /** For people, with the remedy. */
    readonly message: string;
    readonly fields?: readonly { readonly path: string; readonly message: string }[];
  };
}

export interface Listed<T> {
  readonly data: readonly T[];
  /** `null`: the last page. */
  readonly nextCursor: string | null;
}
