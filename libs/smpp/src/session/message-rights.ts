import type { Command } from '../codec/commands.js';

/** The rights of a bind: submit, receive, or both. */
export type BindMode = 'transmitter' | 'receiver' | 'transceiver';

/** The side that binds is the client. */
export type Role = 'client' | 'server';

const FROM_CLIENT: ReadonlySet<Command> = new Set([
  'submit_sm',
  'submit_multi',
  'data_sm',
  'query_sm',
  'cancel_sm',
  'replace_sm',
]);
const FROM_SERVER: ReadonlySet<Command> = new Set(['deliver_sm', 'data_sm']);

/** Whether a bind lets that side send the request (section 2.3). */
export function maySend(role: Role, mode: BindMode, command: Command): boolean {
  return role === 'client'
    ? mode !== 'receiver' && FROM_CLIENT.has(command)
    : mode !== 'transmitter' && FROM_SERVER.has(command);
}

/** The mode of each bind command. */
export const BIND_MODES: { readonly [C in Command]?: BindMode } = {
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
  bind_transceiver: 'transceiver',
};
