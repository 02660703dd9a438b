// Orders of airtime and data (read: all roles; settle and release: operators)

/** `GET api/orders?q=` answers `Listed<PlacedOrder>`, newest first; `q` is a client reference or an id. */
export interface PlacedOrder {
  readonly id: string;
  readonly clientReference: string;
  /** Masked. */
  readonly to: string;
  readonly product: string;
  readonly amount: string;
  readonly currency: string;
  readonly status: string;
  /** The operator of the gateway may record its outcome. */
  readonly canSettle: boolean;
  /** A person's decision on it. */
  readonly settlement: { readonly as: SettleOrder['as']; readonly by: string } | null;
  readonly createdAt: string;
}

/** `GET api/open-orders`, of all accounts (operators). */
export interface OpenOrders {
  /** The newest 100 without an outcome for a day. */
  readonly data: readonly (PlacedOrder & {
    readonly accountId: string;
    readonly accountName: string;
  })[];
  /** Since when orders are held as those of a restored database; `null`: they are not. */
  readonly heldSince: string | null;
}

/** `POST api/open-orders/:id/settle` (204); `POST api/open-orders/release` (204) has an empty body. */
export interface SettleOrder {
  readonly accountId: string;
  readonly as: 'delivered' | 'failed';
  /** Why. */
  readonly note?: string;
}
