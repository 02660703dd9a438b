/** What was taken for granted is not so: the transaction must be rolled back, and everything read first. */
export class ConcurrentChangeError extends Error {}
