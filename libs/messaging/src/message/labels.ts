/** Tags and metadata of a send. */
export interface BatchLabels {
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
}

export const NO_LABELS: BatchLabels = { tags: [], metadata: {} };
