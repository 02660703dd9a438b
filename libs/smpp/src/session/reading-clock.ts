/** Milliseconds in which the connection was read: the time of a pause does not count. */
export class ReadingClock {
  #stoppedAt: number | undefined;
  #stoppedFor = 0;

  get isStopped(): boolean {
    return this.#stoppedAt !== undefined;
  }

  now(): number {
    return (this.#stoppedAt ?? performance.now()) - this.#stoppedFor;
  }

  stop(): void {
    this.#stoppedAt ??= performance.now();
  }

  start(): void {
    if (this.#stoppedAt === undefined) return;
    this.#stoppedFor += performance.now() - this.#stoppedAt;
    this.#stoppedAt = undefined;
  }
}
