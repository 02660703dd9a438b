/** Settings that cannot be used; `problems` names each variable and its remedy. */
export class EnvironmentError extends Error {
  constructor(
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(
      [
        `Dundun cannot start: ${problems.length} ${problems.length === 1 ? 'setting is' : 'settings are'} wrong (docs/configuration.md lists them all)`,
        ...problems.map((problem) => `  ${problem}`),
      ].join('\n'),
      options,
    );
    this.name = 'EnvironmentError';
  }
}
