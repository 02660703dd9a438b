/** One rule of `routes`: `use` carries every message, or every message of `channel`. The first rule that matches decides. */
export interface Route {
  /** @default every channel */
  readonly channel?: string;
  /** Name of a provider in `providers`. */
  readonly use: string;
}
