import { Button, call, Card, ErrorNotice, Field, Logo, useAction } from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Session } from '../portal-api.js';

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

export function SignInPage({ done }: { done: (session: Session) => void }): JSX.Element {
  const signIn = useAction(async (form: FormData) => {
    done(
      await call<Session>('POST', 'api/session', {
        email: form.get('email'),
        password: form.get('password'),
      }),
    );
  });
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
