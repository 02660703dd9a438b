/** Wakes one waiter; a wake that comes while nobody waits is kept for the next wait. */
export class WakeSignal {
  #pending = false;
  #resolve: ((woken: boolean) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  notify(): void {
    if (this.#resolve) this.#end(true);
    else this.#pending = true;
  }

  /** Resolves with `false` where nothing came in `milliseconds`. */
  wait(milliseconds: number): Promise<boolean> {
    if (this.#pending) {
      this.#pending = false;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = setTimeout(() => this.#end(false), milliseconds);
    });
  }

  #end(woken: boolean): void {
    clearTimeout(this.#timer);
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.(woken);
  }
}
