import {
  Button,
  call,
  ErrorNotice,
  forgetData,
  money,
  navigate,
  Notice,
  onSignedOut,
  Shell,
  Skeleton,
  useAction,
  useData,
  useRoute,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { AccountRow, Billing, Listed, Session } from '../portal-api.js';
import { AddSecondFactor } from './pages/settings/second-factor.js';
import {
  accountAddress,
  accountInAddress,
  rememberAccount,
  rememberedAccount,
  root,
} from './addresses.js';
import { OF_ALL_ACCOUNTS, OPERATION, portalProduct } from './product.js';
import { SessionData, type SessionState, useSession } from './session-data.js';
import { SetUpPage } from './set-up-page.js';
import { Alone, SignInPage } from './sign-in-page.js';

/** The sign-in, the set-up, or the pages of the chosen account. */
export function Portal(): JSX.Element {
  const { page } = useRoute();
  const loaded = useData<Session>('api/session');
  const [changed, setChanged] = useState<Session>();
  const [isLeaving, setLeaving] = useState(false);
  const session = changed ?? loaded.data;
  const { reload } = loaded;

  const take = useCallback((next: Session) => {
    forgetData();
    setLeaving(false);
    setChanged(next);
  }, []);
  const leave = useCallback(() => setLeaving(true), []);
  useEffect(
    () =>
      onSignedOut(() => {
        forgetData();
        setChanged(undefined);
        void reload();
      }),
    [reload],
  );

  if (page === 'setup') return <SetUpPage done={take} />;
  if (!session) {
    return (
      <main class="alone">
        {loaded.error ? <ErrorNotice error={loaded.error} retry={reload} /> : <Skeleton />}
      </main>
    );
  }
  if (!session.user) return <SignInPage done={take} ended={session.ended} />;
  if (isLeaving)
    return <Leaving done={() => take({ ...session, user: null, account: null, accounts: [] })} />;
  if (session.missing === 'second factor') {
    return (
      <Alone title="Set up a second factor">
        <p class="muted">
          {session.account?.name ?? 'This gateway'} asks for a code beside your password.
        </p>
        <AddSecondFactor
          done={() => {
            take({ ...session, missing: null });
            void reload();
          }}
        />
        <SessionData.Provider value={{ session, leave }}>
          <SignOut named />
        </SessionData.Provider>
      </Alone>
    );
  }
  return <Opened session={session} leave={leave} />;
}

/** The pages of the account in the address; without one the operator's own, or the way to an account. */
function Opened({ session, leave }: SessionState): JSX.Element {
  const route = useRoute();
  const { account, user, accounts } = session;
  const isOperator = user?.isOperator ?? false;
  const isHome =
    isOperator && [...OPERATION, ...OF_ALL_ACCOUNTS].some(({ name }) => name === route.page);
  const last = rememberedAccount();
  const mayOpenLast = isOperator || accounts.some(({ id }) => id === last);
  const start = mayOpenLast && last !== undefined && route.page ? last : account?.id;
  const target = accountInAddress === undefined && !isHome ? start : undefined;
  const isLost = accountInAddress === undefined && isOperator && target === undefined;
  useEffect(() => {
    if (accountInAddress !== undefined && account) rememberAccount(account.id);
  }, [account]);
  useEffect(() => {
    // Links of former versions name no account.
    if (target !== undefined)
      window.location.replace(accountAddress(target, window.location.href.slice(root.href.length)));
    else if (isLost && !isHome && route.page !== 'settings') navigate('accounts', 'replace');
  }, [target, isLost, isHome, route.page]);
  if (target !== undefined)
    return (
      <main class="alone">
        <Skeleton />
      </main>
    );
  if (accountInAddress !== undefined && !account) {
    return (
      <Alone title="There is no such account">
        <p>The link may be wrong, or you are no member of the account any more.</p>
        <a href={root.href} target="_self">
          Go to your accounts
        </a>
      </Alone>
    );
  }
  return (
    <SessionData.Provider
      value={{
        session: accountInAddress === undefined ? { ...session, account: null } : session,
        leave,
      }}
    >
      <SignedIn />
    </SessionData.Provider>
  );
}

function SignedIn(): JSX.Element {
  const { session } = useSession();
  const product = useMemo(
    () => ({ ...portalProduct(session), top: AccountChoice, bottom: SignedInUser }),
    [session],
  );
  if (!session.account && !session.user?.isOperator) {
    return (
      <Alone title="No account">
        <p>You are not a member of any account. Ask an admin of your account for an invitation.</p>
        <SignOut named />
      </Alone>
    );
  }
  if (session.account?.suspended && !session.user?.isOperator) {
    return (
      <Alone title="Account suspended">
        <p>{session.account.name} is closed until an operator resumes it. Contact your provider.</p>
        {session.accounts.length > 1 && <AccountChoice />}
        <SignOut named />
      </Alone>
    );
  }
  return <Shell product={product} />;
}

function AccountChoice(): JSX.Element {
  const { session } = useSession();
  const isOperator = session.user?.isOperator ?? false;
  const all = useData<Listed<AccountRow>>(isOperator ? 'api/accounts?limit=100' : undefined);
  const names = new Map(session.accounts.map(({ id, name }) => [id, name]));
  for (const { id, name } of all.data?.data ?? []) names.set(id, name);
  // Another account is another address, so that each tab keeps its own.
  const choose = (accountId: string): void => {
    window.location.assign(accountId ? accountAddress(accountId) : new URL('accounts', root));
  };
  return (
    <div class="account">
      <label class="muted small" for="account">
        Account
      </label>
      <select
        id="account"
        value={session.account?.id ?? ''}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {isOperator && <option value="">All accounts</option>}
        {[...names].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {session.account && <Balance />}
      {session.account?.suspended && (
        <Notice tone="danger" title="Suspended">
          Nothing is sent until an operator resumes the account.
        </Notice>
      )}
    </div>
  );
}

/** What an account that pays may still spend. */
function Balance(): JSX.Element | null {
  const { data } = useData<Billing>('api/billing', true);
  if (!data || data.mode === 'off') return null;
  return (
    <a class="balance" href="billing">
      <span class="muted">Available</span>
      <strong>
        {money(data.available)} {data.currency}
      </strong>
    </a>
  );
}

function SignedInUser(): JSX.Element {
  const { session } = useSession();
  return (
    <div class="signed-in">
      <span title={session.user?.email}>
        {session.user?.email}
        <br />
        <span class="muted">{session.user?.isOperator ? 'operator' : session.account?.role}</span>
      </span>
      <SignOut />
    </div>
  );
}

function SignOut({ named = false }: { named?: boolean }): JSX.Element {
  const { leave } = useSession();
  return (
    <Button kind="quiet" icon="signOut" iconOnly={!named} onClick={leave}>
      Sign out
    </Button>
  );
}

/** Ends the session once the pages are gone: none of their requests is answered without a session. */
function Leaving({ done }: { done: () => void }): JSX.Element {
  const { run, error } = useAction(async () => {
    await call('DELETE', 'api/session');
    done();
  });
  useEffect(() => void run(), []);
  return (
    <main class="alone">
      {error ? <ErrorNotice error={error} retry={() => void run()} /> : <Skeleton />}
    </main>
  );
}
