import type { Command } from './commands.js';
import type { Tlvs } from './tlvs.js';

/** An address with its type of number and numbering plan (sections 5.2.5 and 5.2.6). */
export interface SmppAddress {
  /** 0 unknown, 1 international, 2 national, 3 network, 4 subscriber, 5 alphanumeric, 6 abbreviated. */
  readonly ton: number;
  /** 0 unknown, 1 E.164, 3 data, 4 telex, 6 land mobile, 8 national, 9 private, 10 ERMES, 14 IP, 18 WAP. */
  readonly npi: number;
  readonly address: string;
}

export interface BindBody {
  /** Up to 15 characters. */
  readonly systemId: string;
  /** Up to 8 characters. */
  readonly password: string;
  /** Up to 12 characters. */
  readonly systemType: string;
  /** 0x34 for SMPP 3.4. */
  readonly interfaceVersion: number;
  readonly addressTon: number;
  readonly addressNpi: number;
  /** Up to 40 characters. */
  readonly addressRange: string;
}

export interface BindResponseBody {
  readonly systemId: string;
}

export interface OutbindBody {
  readonly systemId: string;
  readonly password: string;
}

/** The fields of `submit_sm`, `deliver_sm` and, without `destination`, of `submit_multi`. */
export interface MessageBody {
  readonly serviceType: string;
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
  readonly esmClass: number;
  readonly protocolId: number;
  readonly priorityFlag: number;
  /** A time of SMPP (`formatAbsoluteTime()`, `formatRelativeTime()`), or empty for now. */
  readonly scheduleDeliveryTime: string;
  /** A time of SMPP, or empty for the SMSC's own. */
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly replaceIfPresentFlag: number;
  readonly dataCoding: number;
  readonly smDefaultMsgId: number;
  /** Up to 254 bytes; a view of the received bytes: copy it to keep it. */
  readonly shortMessage: Buffer;
}

/** One recipient of `submit_multi`. */
export type Destination = SmppAddress | { readonly distributionList: string };

export interface SubmitMultiBody extends Omit<MessageBody, 'destination'> {
  /** Up to 254. */
  readonly destinations: readonly Destination[];
}

/** A recipient that `submit_multi` could not take. */
export interface RefusedDestination extends SmppAddress {
  /** A command status. */
  readonly status: number;
}

export interface SubmitMultiResponseBody {
  readonly messageId: string;
  readonly refused: readonly RefusedDestination[];
}

export interface DataBody {
  readonly serviceType: string;
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
  readonly esmClass: number;
  readonly registeredDelivery: number;
  readonly dataCoding: number;
}

export interface MessageIdBody {
  /** Up to 64 characters. */
  readonly messageId: string;
}

export interface QueryBody extends MessageIdBody {
  readonly source: SmppAddress;
}

export interface QueryResponseBody extends MessageIdBody {
  /** A time of SMPP; empty before the final state. */
  readonly finalDate: string;
  /** See `MESSAGE_STATE`. */
  readonly messageState: number;
  readonly errorCode: number;
}

export interface CancelBody extends MessageIdBody {
  readonly serviceType: string;
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
}

export interface ReplaceBody extends MessageIdBody {
  readonly source: SmppAddress;
  readonly scheduleDeliveryTime: string;
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly smDefaultMsgId: number;
  readonly shortMessage: Buffer;
}

export interface AlertBody {
  readonly source: SmppAddress;
  readonly esme: SmppAddress;
}

/** A PDU that is its header only. */
export type EmptyBody = Readonly<Record<never, never>>;

/** The mandatory fields of each PDU. */
export interface Bodies {
  bind_receiver: BindBody;
  bind_receiver_resp: BindResponseBody;
  bind_transmitter: BindBody;
  bind_transmitter_resp: BindResponseBody;
  bind_transceiver: BindBody;
  bind_transceiver_resp: BindResponseBody;
  outbind: OutbindBody;
  unbind: EmptyBody;
  unbind_resp: EmptyBody;
  generic_nack: EmptyBody;
  submit_sm: MessageBody;
  submit_sm_resp: MessageIdBody;
  submit_multi: SubmitMultiBody;
  submit_multi_resp: SubmitMultiResponseBody;
  deliver_sm: MessageBody;
  deliver_sm_resp: MessageIdBody;
  data_sm: DataBody;
  data_sm_resp: MessageIdBody;
  query_sm: QueryBody;
  query_sm_resp: QueryResponseBody;
  cancel_sm: CancelBody;
  cancel_sm_resp: EmptyBody;
  replace_sm: ReplaceBody;
  replace_sm_resp: EmptyBody;
  enquire_link: EmptyBody;
  enquire_link_resp: EmptyBody;
  alert_notification: AlertBody;
}

/** A decoded PDU of one command. */
export type PduOf<C extends Command> = C extends Command
  ? {
      readonly command: C;
      /** 0 in requests; see `COMMAND_STATUS`. */
      readonly status: number;
      /** 1 to 0x7fffffff. */
      readonly sequence: number;
      readonly tlvs: Tlvs;
    } & Bodies[C]
  : never;

/** A decoded PDU; `command` tells which. */
export type Pdu = PduOf<Command>;

/** The fields to send: a number that is left out is 0, a text empty. */
export type BodyInput<C extends Command> = C extends Command
  ? Partial<Bodies[C]> & { readonly tlvs?: Tlvs }
  : never;

/** A PDU to encode. */
export type PduInput<C extends Command = Command> = C extends Command
  ? BodyInput<C> & { readonly command: C; readonly sequence: number; readonly status?: number }
  : never;
