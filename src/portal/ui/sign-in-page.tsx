import { Button, call, Card, ErrorNotice, Field, Logo, useAction } from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Session, SignIn } from '../portal-api.js';
import { CodeField } from './pages/second-factor.js';

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
  const sent = useAction((form: FormData) => props.send(textOf(form, 'secondFactor')));
  return (
    <Alone title="Enter your code">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void sent.run(new FormData(event.currentTarget));
        }}
      >
        <CodeField name="secondFactor" error={sent.error?.fields['secondFactor']} />
        <ErrorNotice error={sent.error} />
        <Button type="submit" kind="primary" busy={sent.busy}>
          Sign in
        </Button>
        <Button kind="quiet" onClick={props.back}>
          Back
        </Button>
      </form>
      <p class="muted small">
        Phone and recovery codes lost? An operator resets the second factor with{' '}
        <code>dundun user second-factor-reset</code>.
      </p>
    </Alone>
  );
}

export function SignInPage({ done }: { done: (session: Session) => void }): JSX.Element {
  const [given, setGiven] = useState<SignIn>();
  const signIn = useAction(async (form: FormData) => {
    const body = { email: textOf(form, 'email'), password: textOf(form, 'password') };
    const session = await call<Session>('POST', 'api/session', body);
    if (session.missing === 'code') setGiven(body);
    else done(session);
  });
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
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn.run(new FormData(event.currentTarget));
        }}
      >
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
        <ErrorNotice error={signIn.error} />
        <Button type="submit" kind="primary" busy={signIn.busy}>
          Sign in
        </Button>
      </form>
      <p class="muted small">
        Forgotten? An operator makes a new link with <code>dundun user reset</code>.
      </p>
    </Alone>
  );
}
