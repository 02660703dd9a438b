/** Injection token of a `T`: the compiler checks the providers that depend on it. */
export type Token<T> = symbol & { readonly provides?: T };
