import type { MessagingMatchers } from './testing.cjs';

declare global {
  namespace jest {
    // Of @types/jest; without it, the namespace is empty but for this.
    interface Matchers<R, T = {}> extends MessagingMatchers<R> {}
  }
}

// Of @jest/globals.
declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends MessagingMatchers<R> {}
}
