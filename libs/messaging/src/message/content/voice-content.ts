/** Content of a call: exactly one of `text`, `audioUrl` and `code`. Times are in milliseconds. */
export interface VoiceContent {
  readonly kind: 'call';
  readonly text?: string;
  /** Language of the text, such as `en-GB`. */
  readonly language?: string;
  /** The provider's name of a voice. */
  readonly voice?: string;
  /** The provider fetches it, never the library. */
  readonly audioUrl?: string;
  /** Digits that are spoken one by one. */
  readonly code?: string;
  /** How often it is said. */
  readonly repeat: number;
  /** How long the phone rings. */
  readonly ringTimeout: number;
  /** Longest time from the answer to the end. */
  readonly maxDuration: number;
  /** Dials again `after` a busy line or no answer, at most `times`. */
  readonly redial?: { readonly times: number; readonly after: number };
  /** Action where a machine answers. */
  readonly machine: 'play' | 'hangup';
  /** Digits that the person presses; `timeout` is the wait for the next one. */
  readonly collect?: { readonly maxDigits: number; readonly timeout: number };
  readonly category: 'transactional' | 'marketing';
}

export const CALL_CATEGORIES = ['transactional', 'marketing'] as const;
