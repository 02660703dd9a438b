/** `GET api/onboarding`, for the first days of an account: what it has already. */
export interface Onboarding {
  /** An approved sender of any channel, or a verified domain. */
  readonly sender: boolean;
  /** It has accepted a message. */
  readonly message: boolean;
  readonly webhook: boolean;
  /** A second member, or an invitation that is open. */
  readonly team: boolean;
  /** A message was delivered through a carrier that is no simulator, in the last 30 days. */
  readonly live: boolean;
}

/** `GET api/gateway`, for operators: all accounts together, in the last 24 hours and now. */
export interface GatewayFigures {
  readonly since: string;
  readonly messages: HomeFigures;
  /** The same of the 24 hours before. */
  readonly former: HomeFigures;
  /** Carriers with the most messages first; those without a message too. */
  readonly carriers: readonly CarrierFigures[];
  readonly lanes: {
    /** With due work that no process works on. */
    readonly waiting: number;
    readonly paused: number;
    readonly held: number;
    /** Milliseconds that the oldest due message waits. */
    readonly longest: number;
  };
  readonly balances: {
    /** Accounts that pay. */
    readonly accounts: number;
    /** Those that may not spend anything now. */
    readonly empty: number;
    /** The five that may spend least. */
    readonly lowest: readonly {
      readonly accountId: string;
      readonly name: string;
      readonly available: string;
      readonly currency: string;
    }[];
  };
}

export interface HomeFigures {
  readonly accepted: number;
  readonly delivered: number;
  readonly failed: number;
  readonly unknown: number;
}

export interface CarrierFigures extends HomeFigures {
  readonly name: string;
  readonly pausedLanes: number;
}

/** `GET api/balance`: what the account may spend; amounts are decimal texts. */
export interface SpendableBalance {
  /** `off`: its messages are free. */
  readonly mode: 'off' | 'prepaid' | 'postpaid';
  readonly available: string;
  /** `null`: nothing was ever set for the account. */
  readonly currency: string | null;
}
