import { call, Field, navigate, Notice, Skeleton, useAction } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Session, SetUp, SetupInfo } from '../portal-api.js';
import { NewPasswordField } from './components/new-password-field.js';
import { PlainForm } from './components/plain-form.js';
import { Alone, CodePage, textOf } from './sign-in-page.js';

const TITLES: Readonly<Record<SetupInfo['kind'], string>> = {
  first: 'Set up Dundun',
  invite: 'Accept the invitation',
  reset: 'Set a new password',
};

/** Opened by a one-time link: its code is in the fragment, which no server log has. */
export function SetUpPage({ done }: { done: (session: Session) => void }): JSX.Element {
  const [code, setCode] = useState(codeInAddress);
  const [info, setInfo] = useState<SetupInfo>();
  const check = useAction(async () => {
    setInfo(await call<SetupInfo>('POST', 'api/setup/check', { code }));
  });
  const { run } = check;
  useEffect(() => {
    // Another link in the same tab changes the fragment alone.
    const read = (): void => {
      setInfo(undefined);
      setCode(codeInAddress());
    };
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  useEffect(() => {
    // The code stays out of the history.
    window.history.replaceState(null, '', window.location.pathname);
    if (code) void run();
  }, [code]);
  const [given, setGiven] = useState<SetUp>();
  const send = async (body: SetUp): Promise<void> => {
    const session = await call<Session>('POST', 'api/setup', body);
    if (session.missing === 'code') {
      setGiven(body);
      return;
    }
    done(session);
    navigate('./', 'replace');
  };

  if (given) {
    return (
      <CodePage
        send={(secondFactor) => send({ ...given, secondFactor })}
        back={() => setGiven(undefined)}
      />
    );
  }

  if (!code || check.error) {
    return (
      <Alone title="This link does not work">
        <Notice tone="warning">
          {check.error?.message ??
            'The address has no code. Open the whole link, with all after “#”.'}
        </Notice>
        <p>
          A link works once and for an hour. An operator makes a new one:{' '}
          <code>dundun user invite</code> for a new member, <code>dundun user reset</code> for a
          forgotten password.
        </p>
        <a href="./">Go to the sign-in</a>
      </Alone>
    );
  }
  if (!info) {
    return (
      <Alone title="One moment">
        <Skeleton lines={4} />
      </Alone>
    );
  }
  return (
    <Alone title={TITLES[info.kind]}>
      <p class="muted">{explain(info)}</p>
      <PlainForm
        submit={info.kind === 'reset' ? 'Set the password' : 'Set up and sign in'}
        action={(form) =>
          send({ code, email: textOf(form, 'email'), password: textOf(form, 'password') })
        }
      >
        {(refusal) => (
          <>
            <Field
              label="E-mail"
              name="email"
              type="email"
              autocomplete="username"
              required
              defaultValue={info.email ?? ''}
              readOnly={info.email !== null}
              error={refusal?.fields['email']}
            />
            <NewPasswordField label="Password" error={refusal?.fields['password']} />
          </>
        )}
      </PlainForm>
    </Alone>
  );
}

function codeInAddress(): string {
  return new URLSearchParams(window.location.hash.slice(1)).get('code') ?? '';
}

function explain({ kind, accountName, role, isOperator }: SetupInfo): string {
  if (kind === 'reset') return 'The former password stops working, and all sessions end.';
  if (kind === 'first') return 'You become the operator, and an admin of the account demo.';
  if (isOperator) return 'You become an operator and see every account.';
  return `You join the account ${accountName ?? ''} with the role ${role ?? ''}.`;
}
