/**
 * `GET api/requests`, for admins, answers `Listed<RequestEntry>` of the last 30 days, newest first; `?key=` is the
 * id of one key or token, `?refused=true` leaves those that were answered with an error.
 */
export interface RequestEntry {
  readonly at: string;
  /** Id of the key or token. */
  readonly keyId: string;
  /** Its first and last characters, such as `tok_…rqdW`; `null`: it is deleted. */
  readonly key: string | null;
  readonly method: string;
  /** Pattern of the path. */
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  /** Milliseconds. */
  readonly latency: number;
  /** The `x-request-id` of the answer. */
  readonly requestId: string;
  /** Requests that it stands for: more than 1 where the key is busy. */
  readonly weight: number;
}
