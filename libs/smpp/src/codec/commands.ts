const RESPONSE_BIT = 0x8000_0000;

/** The value of `command_id` of each PDU of SMPP 3.4 (section 5.1.2.1). */
export const COMMAND_ID = {
  generic_nack: 0x8000_0000,
  bind_receiver: 0x01,
  bind_receiver_resp: 0x8000_0001,
  bind_transmitter: 0x02,
  bind_transmitter_resp: 0x8000_0002,
  query_sm: 0x03,
  query_sm_resp: 0x8000_0003,
  submit_sm: 0x04,
  submit_sm_resp: 0x8000_0004,
  deliver_sm: 0x05,
  deliver_sm_resp: 0x8000_0005,
  unbind: 0x06,
  unbind_resp: 0x8000_0006,
  replace_sm: 0x07,
  replace_sm_resp: 0x8000_0007,
  cancel_sm: 0x08,
  cancel_sm_resp: 0x8000_0008,
  bind_transceiver: 0x09,
  bind_transceiver_resp: 0x8000_0009,
  outbind: 0x0b,
  enquire_link: 0x15,
  enquire_link_resp: 0x8000_0015,
  submit_multi: 0x21,
  submit_multi_resp: 0x8000_0021,
  alert_notification: 0x0102,
  data_sm: 0x0103,
  data_sm_resp: 0x8000_0103,
} as const;

export type Command = keyof typeof COMMAND_ID;

/** Commands that are answered by `{command}_resp`. */
export type RequestCommand = {
  [C in Command]: `${C}_resp` extends Command ? C : never;
}[Command];
/** The answers. `generic_nack` is none of them: it stands for any. */
export type ResponseCommand = `${RequestCommand}_resp`;

const COMMANDS = new Map<number, Command>(
  Object.entries(COMMAND_ID).map(([command, id]) => [id, command as Command]),
);

/** The command of a `command_id`, if SMPP 3.4 has one. */
export function commandOf(id: number): Command | undefined {
  return COMMANDS.get(id);
}

/** Whether the PDU answers another: a `…_resp` or `generic_nack`. */
export function isResponseId(id: number): boolean {
  return id >= RESPONSE_BIT;
}

/** The command that answers this one, if any. */
export function responseCommandOf(command: Command): ResponseCommand | undefined {
  const id = COMMAND_ID[command];
  return isResponseId(id) ? undefined : (commandOf(id + RESPONSE_BIT) as ResponseCommand);
}
