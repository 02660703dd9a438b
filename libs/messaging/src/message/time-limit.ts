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
