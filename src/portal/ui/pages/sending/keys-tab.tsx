import {
  Badge,
  call,
  Card,
  Choices,
  Dialog,
  Empty,
  Field,
  List,
  Time,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKeys, CreatedApiKey } from '../../../portal-api.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';
import { Secret } from '../../components/secret.js';

export function KeysTab(): JSX.Element {
  const list = useData<ApiKeys>('api/keys');
  const { data, reload } = list;
  const [created, setCreated] = useState<string>();
  const add = data && (
    <FormButton
      kind="primary"
      icon="plus"
      label="New key"
      title="New API key"
      submit="Create"
      action={async (form) => {
        const until = form.get('expiresAt');
        const { key } = await call<CreatedApiKey>('POST', 'api/keys', {
          scopes: form.getAll('scopes'),
          expiresAt: typeof until === 'string' && until ? new Date(until).toISOString() : null,
        });
        setCreated(key);
        void reload();
      }}
    >
      {(refusal) => (
        <>
          <Choices
            legend="Scopes"
            name="scopes"
            options={data.scopes.map((scope) => [scope, scope])}
            chosen={data.scopes.filter((scope) => scope.endsWith(':send'))}
            error={refusal?.fields['scopes']}
          />
          <Field
            label="Expires"
            name="expiresAt"
            type="datetime-local"
            hint="Empty: never."
            error={refusal?.fields['expiresAt']}
          />
        </>
      )}
    </FormButton>
  );
  return (
    <>
      <Card
        flush
        title="API keys"
        description="For email, WhatsApp and notifications; a key may do what its scopes say."
        actions={add}
      >
        <List
          label="API keys"
          list={list}
          empty={<Empty icon="key" title="No keys yet" action={add} />}
          id={({ id }) => id}
          columns={[
            { title: 'Key', cell: ({ lastFour }) => <code class="whole">svk_…{lastFour}</code> },
            {
              title: 'Status',
              cell: ({ status }) => (
                <Badge tone={status === 'active' ? 'success' : 'neutral'}>{status}</Badge>
              ),
            },
            { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
            { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
            { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
            {
              title: 'Actions',
              actions: true,
              cell: ({ id, lastFour, status }) =>
                status === 'active' && (
                  <ConfirmButton
                    label="Revoke"
                    name={`Revoke the key that ends in ${lastFour}`}
                    title={`Revoke the key svk_…${lastFour}?`}
                    confirm="Revoke"
                    action={() => call('DELETE', `api/keys/${id}`)}
                    done="Key revoked"
                    reload={reload}
                  >
                    Programs that use it get 401 at once. This cannot be undone.
                  </ConfirmButton>
                ),
            },
          ]}
        />
      </Card>
      {created && (
        <Dialog title="New API key" onClose={() => setCreated(undefined)}>
          <Secret label="API key" value={created} />
        </Dialog>
      )}
    </>
  );
}
