/** `GET api/callbacks/:message`: what the gateway did for a message beside sending it. */
export interface MessageCallbacks {
  /** What the batch of the message costs the account, or may still cost; `null`: it is free. */
  readonly charge: { readonly amount: string; readonly currency: string } | null;
  /** Whether the send asked for them. */
  readonly asked: boolean;
  /** Oldest first; those of deleted webhooks, and of more than 14 days ago, are gone. */
  readonly data: readonly MessageCallback[];
}

export interface MessageCallback {
  /** The `webhook-id` of its requests. */
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly url: string;
  /** Such as `sms.delivery_report`. */
  readonly type: string;
  /** That it tells of; `null`: none, or the callback is deleted. */
  readonly status: string | null;
  readonly createdAt: string;
  readonly state: 'delivered' | 'due' | 'exhausted';
  readonly nextAttemptAt: string | null;
  /** Oldest first. */
  readonly attempts: readonly {
    readonly at: string;
    readonly durationMs: number;
    /** `null`: no answer came. */
    readonly statusCode: number | null;
    /** Such as `http_status` or `timeout`; `null`: success. */
    readonly error: string | null;
  }[];
}
