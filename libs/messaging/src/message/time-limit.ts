/** Limits that have not ended. */
const open = new Set<AbortSignal>();

/**
 * A signal that ends with one of `signals`, or after `milliseconds` with a `TimeoutError`. It is kept
 * until then: Node 20 collects the timer of `AbortSignal.any([AbortSignal.timeout(…)])` as garbage, and
 * what waits for it waits without end.
 * @see https://github.com/nodejs/node/issues/57736
 */
export function timeLimit(milliseconds: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const timer = AbortSignal.timeout(milliseconds);
  const limit = AbortSignal.any([...signals, timer]);
  if (limit.aborted) return limit;
  const both = [timer, limit];
  for (const one of both) open.add(one);
  limit.addEventListener('abort', () => both.forEach((one) => open.delete(one)), { once: true });
  return limit;
}

/** Of `work`, which may go on. @throws the reason of the signal, where that ends first */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
