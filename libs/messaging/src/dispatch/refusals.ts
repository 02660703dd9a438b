/** Most characters that the message's row takes. */
const LONGEST = 255;

/**
 * The providers of its route that have refused a message since the last round, as its row keeps them:
 * `a b!`. One with `!` has refused it for good, and gets it in no later round either.
 */
export class Refusals {
  readonly #names: ReadonlyMap<string, boolean>;

  constructor(written: string | null) {
    const names = (written ?? '').split(' ').filter((name) => name !== '');
    this.#names = new Map(names.map((name) => [name.replace(/!$/, ''), name.endsWith('!')]));
  }

  /** Those of `providers` that have not refused; of a whole round, those that may be tried again. */
  left(providers: readonly string[]): readonly string[] {
    if (this.#names.size === 0) return providers;
    const left = providers.filter((name) => !this.#names.has(name));
    if (left.length > 0) return left;
    const again = providers.filter((name) => this.#names.get(name) !== true);
    // After a change of the routes: the provider refuses once more, which ends the message.
    return again.length > 0 ? again : providers;
  }

  /**
   * After a refusal by `provider`: the value of the row, and whether another provider of the round is
   * left. `over`: every provider has refused for good.
   */
  with(
    provider: string,
    isFinal: boolean,
    providers: readonly string[],
  ): { readonly written: string; readonly next: boolean; readonly over: boolean } {
    const names = new Map(this.#names).set(provider, isFinal || this.#names.get(provider) === true);
    const next = providers.some((name) => !names.has(name));
    const over = !next && providers.every((name) => names.get(name) === true);
    const kept = [...names].filter(([, final]) => next || final);
    let written = kept.map(([name, final]) => (final ? `${name}!` : name));
    while (written.join(' ').length > LONGEST) written = written.slice(1);
    return { written: written.join(' '), next, over };
  }
}
