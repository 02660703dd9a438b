/** Times as RFC 3339 writes them. Many requests share a millisecond, and writing one costs a microsecond. */
export class IsoTimes {
  #time = Number.NaN;
  #written = '';

  of(date: Date): string {
    const time = date.getTime();
    if (time === this.#time) return this.#written;
    this.#time = time;
    return (this.#written = date.toISOString());
  }
}
