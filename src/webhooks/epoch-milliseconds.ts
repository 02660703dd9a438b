/** Column options: BIGINT that drivers answer as text, a number in code. */
export const epochMilliseconds = {
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value === null || value === undefined ? null : Number(value)),
  },
};
