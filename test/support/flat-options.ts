import type { DispatchOptions, MessagingOptions } from '@dundun/messaging';

/** Options of a spec: those of `dispatch` beside the groups. `dispatch: false` only accepts. */
export type FlatOptions = Omit<DispatchOptions, 'enabled'> &
  Omit<MessagingOptions, 'dispatch'> & { readonly dispatch?: false };

/** The options as the module takes them. */
export function grouped(flat: FlatOptions): MessagingOptions {
  const { transport, providers, routes, best, ...grouping } = flat;
  const { store, reports, callbacks, erasure, ...rest } = grouping;
  const { policy, sms, whatsapp, channels, inbound, rateCard, ...others } = rest;
  const { dispatch: enabled, ...dispatch } = others;
  const way = { transport, providers, routes, best };
  const groups = { ...way, store, reports, callbacks, erasure };
  return {
    ...given({ ...groups, policy, sms, whatsapp, channels, inbound, rateCard }),
    dispatch: { ...dispatch, ...(enabled === false && { enabled }) },
  };
}

function given<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
