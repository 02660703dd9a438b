import {
  Button,
  call,
  ErrorNotice,
  forgetData,
  navigate,
  Notice,
  onSignedOut,
  Shell,
  Skeleton,
  useData,
  useRoute,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { AccountRow, Listed, Session } from '../portal-api.js';
import { AddSecondFactor } from './pages/second-factor.js';
import { portalProduct } from './product.js';
import { SessionData, useSession } from './session-data.js';
import { SetUpPage } from './set-up-page.js';
import { Alone, SignInPage } from './sign-in-page.js';

/** The sign-in, the set-up, or the pages of the chosen account. */
export function Portal(): JSX.Element {
  const { page } = useRoute();
  const loaded = useData<Session>('api/session');
  const [changed, setChanged] = useState<Session>();
  const session = changed ?? loaded.data;
  const { reload } = loaded;

  const take = useCallback((next: Session) => {
    forgetData();
    setChanged(next);
  }, []);
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
  if (!session.user) return <SignInPage done={take} />;
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
        <SessionData.Provider value={{ session, take }}>
          <SignOut named />
        </SessionData.Provider>
      </Alone>
    );
  }
  return (
    <SessionData.Provider value={{ session, take }}>
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
  // The pages are drawn anew for another account, so that no data of the former one stays on the screen.
  return <Shell key={session.account?.id ?? ''} product={product} />;
}

function AccountChoice(): JSX.Element {
  const { session, take } = useSession();
  const isOperator = session.user?.isOperator ?? false;
  const all = useData<Listed<AccountRow>>(isOperator ? 'api/accounts?limit=100' : undefined);
  const names = new Map(session.accounts.map(({ id, name }) => [id, name]));
  for (const { id, name } of all.data?.data ?? []) names.set(id, name);
  const choose = async (accountId: string): Promise<void> => {
    if (!accountId) return;
    take(await call<Session>('POST', 'api/session/account', { accountId }));
    navigate('overview');
  };
  return (
    <div class="account">
      <label class="muted small" for="account">
        Account
      </label>
      <select
        id="account"
        value={session.account?.id ?? ''}
        onChange={(event) => void choose(event.currentTarget.value)}
      >
        {!session.account && <option value="">Choose an account</option>}
        {[...names].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {session.account?.suspended && (
        <Notice tone="danger" title="Suspended">
          Nothing is sent until an operator resumes the account.
        </Notice>
      )}
    </div>
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
  const { session, take } = useSession();
  const leave = async (): Promise<void> => {
    await call('DELETE', 'api/session');
    // Drawn at once, so that no page sends a request without a session.
    take({ ...session, user: null, account: null, accounts: [] });
  };
  return (
    <Button kind="quiet" icon="signOut" iconOnly={!named} onClick={() => void leave()}>
      Sign out
    </Button>
  );
}
