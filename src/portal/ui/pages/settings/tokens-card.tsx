import {
  Badge,
  call,
  Card,
  Choices,
  Dialog,
  Empty,
  Field,
  List,
  type Loaded,
  queryOf,
  Time,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiTokenRow, ApiTokens, CreatedApiToken } from '../../../portal-api.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';
import { Secret } from '../../components/secret.js';

/** The API tokens of the account, each with a name, scopes and an end. */
export function TokensCard({ list }: { list: Loaded<ApiTokens> }): JSX.Element {
  const { data, reload } = list;
  const [created, setCreated] = useState<string>();
  const add = data && (
    <FormButton
      icon="plus"
      label="New token"
      title="New API token"
      submit="Create"
      action={async (form) => {
        const until = form.get('expiresAt');
        const { token } = await call<CreatedApiToken>('POST', 'api/tokens', {
          name: form.get('name'),
          scopes: form.getAll('scopes'),
          expiresAt: typeof until === 'string' && until ? new Date(until).toISOString() : null,
        });
        setCreated(token);
        void reload();
      }}
    >
      {(refusal) => (
        <>
          <Field
            label="Name"
            name="name"
            required
            hint="Such as the program that has it."
            error={refusal?.fields['name']}
          />
          <Choices
            legend="Scopes (none: all)"
            name="scopes"
            options={data.scopes.map((scope) => [scope, scope])}
            chosen={[]}
            error={refusal?.fields['scopes']}
          />
          <Field
            label="Expires"
            name="expiresAt"
            type="datetime-local"
            hint="Empty: never."
            error={refusal?.fields['expiresAt'] ?? refusal?.fields['expires']}
          />
        </>
      )}
    </FormButton>
  );
  return (
    <>
      <Card
        flush
        title="API tokens"
        description="Several tokens may be valid at once: one for each program, with what it may do."
        actions={add}
      >
        <List
          label="API tokens"
          list={list}
          empty={<Empty icon="key" title="No tokens yet" action={add} />}
          id={({ id }) => id}
          columns={[
            {
              title: 'Token',
              cell: ({ name, lastFour }) => (
                <>
                  <strong>{name ?? 'Token of the account'}</strong>
                  <br />
                  <code>tok_…{lastFour}</code>
                </>
              ),
            },
            {
              title: 'Status',
              cell: ({ status }) => (
                <Badge tone={status === 'active' ? 'success' : 'neutral'}>{status}</Badge>
              ),
            },
            { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') || 'all' },
            { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
            { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
            {
              title: 'Actions',
              actions: true,
              cell: (token) => (
                <>
                  <a
                    class="button"
                    href={`requests${queryOf({ key: token.id })}`}
                    aria-label={`Requests with ${labelOf(token)}`}
                  >
                    Requests
                  </a>
                  {token.status === 'active' && (
                    <Rotate token={token} shown={setCreated} reload={reload} />
                  )}
                </>
              ),
            },
          ]}
        />
      </Card>
      {created && (
        <Dialog title="New API token" onClose={() => setCreated(undefined)}>
          <Secret label="API token" value={created} />
        </Dialog>
      )}
    </>
  );
}

function labelOf({ name, lastFour }: ApiTokenRow): string {
  return name ?? `the token that ends in ${lastFour}`;
}

function Rotate(props: {
  token: ApiTokenRow;
  shown: (token: string) => void;
  reload: () => Promise<unknown>;
}): JSX.Element {
  const { token, shown, reload } = props;
  const name = labelOf(token);
  return (
    <>
      <FormButton
        label="Rotate"
        name={`Rotate ${name}`}
        title={`Rotate ${name}?`}
        submit="Make a new token"
        action={async (form) => {
          const made = await call<CreatedApiToken>('POST', `api/tokens/${token.id}/rotate`, {
            overlapHours: Number(form.get('overlapHours')),
          });
          shown(made.token);
          void reload();
        }}
      >
        {(refusal) => (
          <Field
            label="Hours for which the former token still works"
            name="overlapHours"
            type="number"
            min="0"
            max="720"
            defaultValue="24"
            required
            hint="0: it stops at once. The new token is shown once."
            error={refusal?.fields['overlapHours']}
          />
        )}
      </FormButton>
      <ConfirmButton
        label="Revoke"
        name={`Revoke ${name}`}
        title={`Revoke ${name}?`}
        confirm="Revoke"
        action={() => call('DELETE', `api/tokens/${token.id}`)}
        done="Token revoked"
        reload={reload}
      >
        Programs that use it get 401 at once. This cannot be undone.
      </ConfirmButton>
    </>
  );
}
