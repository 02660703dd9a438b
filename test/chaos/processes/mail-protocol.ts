/** One acceptance in the mail server's book. */
export interface MailEntry {
  readonly to: string;
  readonly messageId: string;
  /** SHA-256 of the whole message. */
  readonly digest: string;
}

export interface MailAppSettings {
  /** Decides the jitter of this process. */
  readonly seed: number;
  /** `sqlite:PATH`, `postgres://…` or `mysql://…`. */
  readonly database: string;
  /** `smtp://…` of the mail server. */
  readonly relay: string;
  readonly onUncertain: 'unknown' | 'resend';
  readonly concurrency: number;
}

export type MailCommand =
  /** Take the `nth` message from now on into the book, say so, and never answer it. */
  { readonly command: 'hold'; readonly nth: number } | { readonly command: 'book' };

export type MailEvent =
  | { readonly event: 'ready'; readonly port: number }
  | { readonly event: 'held'; readonly messageId: string }
  | { readonly event: 'book'; readonly entries: readonly MailEntry[] };
