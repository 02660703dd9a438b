/** The part of an address that an error of `listen()` is about, and the remedy; `undefined`: another error. */
export function listenRemedyOf(error: unknown): readonly ['HOST' | 'PORT', string] | undefined {
  return LISTEN_REMEDIES[String((error as NodeJS.ErrnoException).code)];
}

const LISTEN_REMEDIES: Readonly<Record<string, readonly ['HOST' | 'PORT', string]>> = {
  EADDRINUSE: ['PORT', 'is in use; stop the other process or set another port'],
  EACCES: ['PORT', 'is not allowed for this user; set a port above 1023'],
  EADDRNOTAVAIL: ['HOST', 'is not an address of this machine; set 127.0.0.1 or 0.0.0.0'],
  ENOTFOUND: ['HOST', 'has no address; set 127.0.0.1 or 0.0.0.0'],
};
