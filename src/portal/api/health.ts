/** `GET api/health`, for operators: it examines all at once, and answers after seconds. */
export interface Health {
  readonly checks: readonly HealthCheck[];
}

export interface HealthCheck {
  /** Such as `carrier main`, `database settings` or `webhook {id}`. */
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** `null`: nothing is to be done. */
  readonly remedy: string | null;
}
