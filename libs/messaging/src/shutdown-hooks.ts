import type { Logger } from '@nestjs/common';

/** An app may enable the hooks until just after `listen()`. */
const AFTER = 2_000;

/** Signals by which process managers, containers and terminals stop a process. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Warns once where no code listens for a stop of the process: it then dies with requests in flight.
 * Tests (`NODE_ENV=test`) get no warning, as their runner ends the process.
 * @param lease milliseconds for which the lanes of a dead process stay with it
 * @returns stops the wait for the warning
 */
export function warnWithoutShutdownHooks(logger: Logger, lease: number): () => void {
  if (process.env['NODE_ENV'] === 'test') return () => undefined;
  const timer = setTimeout(() => {
    if (SIGNALS.some((signal) => process.listenerCount(signal) > 0)) return;
    logger.warn(
      `Nothing listens for SIGTERM: a stop ends this process with requests in flight, and its lanes wait for the end of their lease (${lease / 1_000} s). Call app.enableShutdownHooks() before app.listen()`,
    );
  }, AFTER).unref();
  return () => clearTimeout(timer);
}
