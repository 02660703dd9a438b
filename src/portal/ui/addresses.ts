import { mount } from '@dundun/dashboard/ui';

/** The account whose pages are open, by the address; `undefined`: the pages of no account. */
export const accountInAddress = /\/a\/([\w-]+)\/$/.exec(mount.pathname)?.[1];

/** Address of the portal without an account. */
export const root = accountInAddress === undefined ? mount : new URL('../../', mount);

/** @param rest address below the account, such as `messages?status=failed` */
export function accountAddress(accountId: string, rest = ''): string {
  return new URL(`a/${accountId}/${rest}`, root).href;
}

const KEY = 'dundun-account';

/** Keeps the account that was opened last, for links without one. */
export function rememberAccount(accountId: string): void {
  try {
    localStorage.setItem(KEY, accountId);
  } catch {
    // The browser keeps nothing: such links open the account of the session.
  }
}

export function rememberedAccount(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
