import type { Address } from '../../message/address.js';
import type { DeliveryReport } from '../../message/events.js';
import type { MessageContent } from '../../message/message.js';
import type { VasProduct } from '../../message/vas.js';

/** Content of a simulated report. */
export interface SimulatedReport {
  /** A status, or an event of the channel. */
  readonly status: string;
  readonly rawStatus: string;
  readonly errorCode?: string;
  /** Made from the time of the final report, or the same in each. */
  readonly details?: DeliveryReport['details'] | ((final: Date) => DeliveryReport['details']);
}

/** Simulated outcome of a message to a recipient. */
export interface SimulatedOutcome extends SimulatedReport {
  readonly course:
    | 'reported' // accepted, then reported
    | 'early' // the report precedes the submit response
    | 'disordered' // reports arrive twice and out of order
    | 'silent' // no report is pushed, a poll finds it
    | 'throttled' // the first submit is throttled, then as `reported`
    | 'lost' // the submit response is lost, a poll finds the report
    | 'unreported' // the submit response is lost, no poll finds the report
    | 'unknown' // as `unreported`, and the submission is not repeated
    | 'replying' // as `reported`, then the recipient replies
    | 'refused'; // refused at submit
  /** Report before the final one. @default none */
  readonly before?: SimulatedReport;
  /** Report after the final one. @default the simulation's `followUp` */
  readonly later?: SimulatedReport;
}

/** What the simulator does for a channel. */
export interface Simulation {
  /** The outcome of a message to this address; the same on each call. A poll knows no content. */
  readonly outcomeOf: (
    to: Address,
    of: { readonly attempt: number; readonly content?: MessageContent | undefined },
  ) => SimulatedOutcome;
  /** Intermediate report of a `disordered` outcome. */
  readonly underway: SimulatedReport;
  /** Report that follows a final one, such as `read` after `delivered`. @default none */
  readonly followUp?: SimulatedReport & { readonly after: string };
  /** Prefix of ids in answers, with category, cost and sender. @default only a reference */
  readonly idPrefix?: string;
  /** Products of the simulated operator. @default nothing */
  readonly products?: readonly VasProduct[];
  /** Text of a `replying` recipient. @default no reply */
  readonly reply?: string;
}
