/**
 * Phone numbers seen, by their value: open addressing in one flat array, because a hundred thousand
 * strings in a `Set` cost more than everything else that is done to them.
 */
export class PhoneNumberSet {
  readonly #slots: Float64Array;
  readonly #shift: number;
  /** Odd and unpredictable: nobody can choose numbers that all fall on one slot. */
  readonly #factor = Math.floor(Math.random() * 0x1_0000_0000) | 1;

  /** @param most numbers it will be given */
  constructor(most: number) {
    const bits = Math.max(2, Math.ceil(Math.log2(most * 2 + 1)));
    this.#slots = new Float64Array(2 ** bits);
    this.#shift = 32 - bits;
  }

  /** Adds a positive whole number below 2^53; false: it was there. */
  add(value: number): boolean {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const low = Math.imul(value % 0x1_0000_0000, this.#factor) >>> this.#shift;
    let at = (low ^ (value / 0x1_0000_0000)) & mask;
    for (; slots[at] !== 0; at = (at + 1) & mask) if (slots[at] === value) return false;
    slots[at] = value;
    return true;
  }
}
