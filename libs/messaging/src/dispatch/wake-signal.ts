/**
 * One sleeper that anything which changes may wake. It gets up once the event loop has taken in all that
 * has come: of answers that came together, the next requests go out together.
 */
export class WakeSignal {
  #wake: (() => void) | undefined;

  wake(): void {
    this.#wake?.();
  }

  /** Until something changes (false), or `ms` pass (true). */
  sleep(ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (timedOut: boolean) => {
        this.#wake = undefined;
        clearTimeout(timer);
        resolve(timedOut);
      };
      const timer = ms === undefined ? undefined : setTimeout(end, ms, true);
      this.#wake = () => {
        this.#wake = undefined;
        clearTimeout(timer);
        setImmediate(resolve, false);
      };
    });
  }
}
