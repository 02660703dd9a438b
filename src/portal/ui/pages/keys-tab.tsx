import {
  Badge,
  Button,
  call,
  Card,
  Choices,
  Dialog,
  Empty,
  ErrorNotice,
  Field,
  FormDialog,
  Skeleton,
  Table,
  Time,
  toast,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKeys, CreatedApiKey } from '../../portal-api.js';
import { ConfirmButton } from './confirm-button.js';
import { Secret } from './secret.js';

export function KeysTab(): JSX.Element {
  const { data, error, loading, reload } = useData<ApiKeys>('api/keys');
  const [adding, setAdding] = useState(false);
  const [created, setCreated] = useState<string>();
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      New key
    </Button>
  );
  return (
    <>
      <Card
        flush
        title="API keys"
        description="For email and WhatsApp; a key may do what its scopes say."
        actions={add}
      >
        {loading && <Skeleton />}
        <ErrorNotice error={error} retry={reload} />
        {data &&
          (data.data.length === 0 ? (
            <Empty icon="key" title="No keys yet" action={add} />
          ) : (
            <Table
              label="API keys"
              rows={data.data}
              id={({ id }) => id}
              columns={[
                { title: 'Key', cell: ({ lastFour }) => <code>svk_…{lastFour}</code> },
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
                        action={async () => {
                          await call('DELETE', `api/keys/${id}`);
                          toast('Key revoked');
                          await reload();
                        }}
                      >
                        Programs that use it get 401 at once. This cannot be undone.
                      </ConfirmButton>
                    ),
                },
              ]}
            />
          ))}
      </Card>
      {adding && data && (
        <FormDialog
          title="New API key"
          submit="Create"
          onClose={() => setAdding(false)}
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
        </FormDialog>
      )}
      {created && (
        <Dialog title="New API key" onClose={() => setCreated(undefined)}>
          <Secret label="API key" value={created} />
        </Dialog>
      )}
    </>
  );
}
