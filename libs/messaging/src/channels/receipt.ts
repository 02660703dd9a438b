/** What `send()` resolves with, once the send is durable (or part of the caller's transaction). */
export interface Receipt {
  /** UUIDv7 of the batch; the `reference_id` of the interface. */
  readonly id: string;
  /** Unique recipients. */
  readonly recipients: number;
  readonly createdAt: Date;
  /** The idempotency key was known: this is the first send's batch. */
  readonly replayed: boolean;
}
