import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from '../portal-api.js';

export interface SessionState {
  readonly session: Session;
  /** Signs out. */
  readonly leave: () => void;
}

export const SessionData = createContext<SessionState | undefined>(undefined);

export function useSession(): SessionState {
  const state = useContext(SessionData);
  if (!state) throw new Error('a page is drawn without a session');
  return state;
}

/** Whether the person has at least the role in the chosen account. */
export function useMay(role: 'sender' | 'admin'): boolean {
  const { session } = useSession();
  const has = session.account?.role;
  return has === 'admin' || (role === 'sender' && has === 'sender');
}
