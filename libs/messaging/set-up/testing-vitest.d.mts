import type { MessagingMatchers } from './testing.js';

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-explicit-any -- as Vitest declares it
  interface Matchers<T = any> extends MessagingMatchers<T> {}
}
