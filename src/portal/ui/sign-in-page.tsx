import { Button, call, Card, Field, Logo, Notice } from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Session, SignIn } from '../portal-api.js';
import { PlainForm } from './components/plain-form.js';
import { CodeField } from './pages/settings/second-factor.js';

/** One card in the middle of the page, without the navigation. */
export function Alone(props: { title: string; children: ComponentChildren }): JSX.Element {
  useEffect(() => {
    document.title = `${props.title} · Dundun`;
  }, [props.title]);
  return (
    <main class="alone">
      <span class="brand">
        <Logo />
        Dundun
      </span>
      <Card>
        <h1>{props.title}</h1>
        {props.children}
      </Card>
    </main>
  );
}

export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** The second step of a sign-in or a set-up: asks for the code of the second factor. */
export function CodePage(props: {
  send: (code: string) => Promise<void>;
  back: () => void;
}): JSX.Element {
  return (
    <Alone title="Enter your code">
      <PlainForm
        submit="Sign in"
        action={(form) => props.send(textOf(form, 'secondFactor'))}
        footer={
          <Button kind="quiet" onClick={props.back}>
            Back
          </Button>
        }
      >
        {(refusal) => <CodeField name="secondFactor" error={refusal?.fields['secondFactor']} />}
      </PlainForm>
      <p class="muted small">
        Phone and recovery codes lost? An operator resets the second factor with{' '}
        <code>dundun user second-factor-reset</code>.
      </p>
    </Alone>
  );
}

export function SignInPage(props: {
  done: (session: Session) => void;
  /** Why the former session ended. */
  ended: string | null;
}): JSX.Element {
  const { done, ended } = props;
  const [given, setGiven] = useState<SignIn>();
  const signIn = async (form: FormData): Promise<void> => {
    const body = { email: textOf(form, 'email'), password: textOf(form, 'password') };
    const session = await call<Session>('POST', 'api/session', body);
    if (session.missing === 'code') setGiven(body);
    else done(session);
  };
  if (given) {
    return (
      <CodePage
        send={async (secondFactor) =>
          done(await call('POST', 'api/session', { ...given, secondFactor }))
        }
        back={() => setGiven(undefined)}
      />
    );
  }
  return (
    <Alone title="Sign in">
      {ended && <Notice tone="warning">{ended}</Notice>}
      <PlainForm submit="Sign in" action={signIn}>
        <Field
          label="E-mail"
          name="email"
          type="email"
          autocomplete="username"
          required
          autofocus
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
        />
      </PlainForm>
      <p class="muted small">
        Forgotten? An operator makes a new link with <code>dundun user reset</code>.
      </p>
    </Alone>
  );
}
