import {
  Button,
  call,
  Card,
  CodeBlock,
  Dialog,
  Empty,
  ErrorNotice,
  Facts,
  Field,
  fullTime,
  Skeleton,
  Time,
  toast,
  useAction,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiTokens, RotatedToken, Security } from '../../../portal-api.js';
import { root } from '../../addresses.js';
import { NewPasswordField } from '../../components/new-password-field.js';
import { SecondFactorCard } from './second-factor.js';
import { FormButton } from '../../components/form-button.js';
import { PlainForm } from '../../components/plain-form.js';
import { Secret } from '../../components/secret.js';
import { SessionsCard } from './sessions-card.js';
import { TokensCard } from './tokens-card.js';

export function SecurityTab({ admin }: { admin: boolean }): JSX.Element {
  return (
    <>
      {admin && <Tokens />}
      <Password />
      <SecondFactorCard />
      <SessionsCard />
      {admin && <RequiredSecondFactor />}
    </>
  );
}

function Tokens(): JSX.Element {
  const list = useData<ApiTokens>('api/tokens');
  return (
    <>
      <Token rotated={list.reload} />
      <TokensCard list={list} />
    </>
  );
}

function Password(): JSX.Element {
  return (
    <Card title="Your password" description="A new one ends your sessions in other browsers.">
      <PlainForm
        submit="Change password"
        kind="plain"
        action={async (form) => {
          await call('POST', 'api/session/password', {
            current: form.get('current'),
            password: form.get('password'),
          });
          toast('Password changed; your other sessions have ended');
        }}
      >
        {(refusal) => (
          <>
            <Field
              label="Current password"
              name="current"
              type="password"
              autocomplete="current-password"
              required
              error={refusal?.fields['current']}
            />
            <NewPasswordField label="New password" error={refusal?.fields['password']} />
          </>
        )}
      </PlainForm>
    </Card>
  );
}

function RequiredSecondFactor(): JSX.Element {
  const { data, error, reload } = useData<Security>('api/security');
  const change = useAction(async (requiresSecondFactor: boolean) => {
    await call('PATCH', 'api/security', { requiresSecondFactor });
    toast(requiresSecondFactor ? 'Every member needs a second factor' : 'It is optional again');
    await reload();
  });
  return (
    <Card
      title="Second factor of the members"
      description="A member without one sets it up before the pages of this account open."
    >
      <ErrorNotice error={error ?? change.error} retry={error && reload} />
      {data && (
        <label class="check">
          <input
            type="checkbox"
            checked={data.requiresSecondFactor}
            disabled={change.busy}
            onChange={(event) => void change.run(event.currentTarget.checked)}
          />
          Every member needs one
        </label>
      )}
    </Card>
  );
}

function Token(props: {
  /** Reads the list of tokens again. */
  rotated: () => Promise<void>;
}): JSX.Element {
  const { data, error, loading, reload } = useData<Security>('api/security');
  const [rotated, setRotated] = useState<string>();
  return (
    <>
      <Card
        title="API token"
        description="For SMS, calls, orders and verifications. Email and WhatsApp use API keys."
        actions={
          <FormButton
            icon="refresh"
            label="Rotate token"
            title="Rotate the API token?"
            submit="Rotate"
            danger
            action={async () => {
              const { token } = await call<RotatedToken>('POST', 'api/security/rotate');
              setRotated(token);
              void reload();
              void props.rotated();
            }}
          >
            <p>
              The new token is shown once. The present one stops working at once: programs that use
              it get 401 until they have the new one.
            </p>
          </FormButton>
        }
      >
        {loading && <Skeleton lines={3} />}
        <ErrorNotice error={error} retry={reload} />
        {data?.token && (
          <Facts
            rows={[
              ['Token', <code key="token">tok_…{data.token.lastFour}</code>],
              ['Created', fullTime(data.token.createdAt)],
              ['Last used', <Time key="used" at={data.token.lastUsedAt} />],
            ]}
          />
        )}
        {data && !data.token && (
          <Empty icon="key" title="No token is valid">
            Rotate to make one.
          </Empty>
        )}
      </Card>
      <Card title="Use it" description="The header of every SMS request">
        <CodeBlock
          label="Request with the token"
          code={`curl '${new URL('../ng/v1/sms', root).href}' \\\n  -H "Authorization: Bearer $API_TOKEN"`}
        />
      </Card>
      {rotated && (
        <Dialog
          title="New API token"
          onClose={() => setRotated(undefined)}
          footer={
            <Button kind="primary" onClick={() => setRotated(undefined)}>
              Done
            </Button>
          }
        >
          <Secret label="API token" value={rotated} />
        </Dialog>
      )}
    </>
  );
}
