import {
  Badge,
  Button,
  call,
  Card,
  Copy,
  Dialog,
  Empty,
  ErrorNotice,
  Field,
  List,
  PageHeader,
  queryOf,
  type Route,
  Select,
  Table,
  Time,
  toast,
  useAction,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AccountRow, CreatedAccount, Listed, SenderRequest } from '../../portal-api.js';
import { accountAddress } from '../addresses.js';
import { ConfirmButton, FormButton } from '../components/form-button.js';
import { GatewayCard } from './gateway-card.js';
import { OpenOrdersCard } from './sending/orders-page.js';
import { Secret } from '../components/secret.js';

export function AccountsPage({ route }: { route: Route }): JSX.Element {
  const list = useData<Listed<AccountRow>>(
    `api/accounts${queryOf({ cursor: route.query.get('cursor') })}`,
  );
  const [created, setCreated] = useState<CreatedAccount>();
  return (
    <>
      <PageHeader title="Accounts" description="The customers of this gateway.">
        <FormButton
          kind="primary"
          icon="plus"
          label="New account"
          title="New account"
          submit="Create"
          action={async (form) => {
            setCreated(
              await call<CreatedAccount>('POST', 'api/accounts', { name: form.get('name') }),
            );
            void list.reload();
          }}
        >
          {(refusal) => (
            <Field label="Name" name="name" required autofocus error={refusal?.fields['name']} />
          )}
        </FormButton>
      </PageHeader>
      <GatewayCard />
      <SenderRequests />
      <OpenOrdersCard />
      <Card flush>
        <List
          label="Accounts"
          list={list}
          id={({ id }) => id}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => (
                <strong>
                  <a href={accountAddress(id)} target="_self">
                    {name}
                  </a>
                </strong>
              ),
            },
            { title: 'Id', cell: ({ id }) => <Copy value={id} label="account id" /> },
            {
              title: 'Status',
              cell: ({ status }) => (
                <Badge tone={status === 'active' ? 'success' : 'danger'}>{status}</Badge>
              ),
            },
            { title: 'Created', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: 'Actions',
              actions: true,
              cell: (account) => (
                <>
                  <a
                    class="button plain"
                    href={accountAddress(account.id)}
                    target="_self"
                    aria-label={`Open ${account.name}`}
                  >
                    Open
                  </a>
                  {account.status === 'active' ? (
                    <ConfirmButton
                      label="Suspend"
                      name={`Suspend ${account.name}`}
                      title={`Suspend ${account.name}?`}
                      confirm="Suspend"
                      action={() => call('POST', `api/accounts/${account.id}/suspend`)}
                      done={`${account.name} is suspended`}
                      reload={list.reload}
                    >
                      Its tokens and keys are refused, its lanes stop, its people lose access at
                      once.
                    </ConfirmButton>
                  ) : (
                    <FormButton
                      icon="play"
                      label="Resume"
                      name={`Resume ${account.name}`}
                      title={`Resume ${account.name}`}
                      submit="Resume"
                      action={(form) =>
                        call('POST', `api/accounts/${account.id}/resume`, {
                          waiting: form.get('waiting'),
                        })
                      }
                      done={`${account.name} is active`}
                      reload={list.reload}
                    >
                      <Select
                        label="Batches that waited"
                        name="waiting"
                        options={[
                          ['send', 'Send them now'],
                          ['cancel', 'Cancel them'],
                        ]}
                      />
                    </FormButton>
                  )}
                </>
              ),
            },
          ]}
          empty={<Empty icon="users" title="No accounts" />}
        />
      </Card>
      {created && (
        <Dialog title={`Account ${created.name}`} onClose={() => setCreated(undefined)}>
          <h3>API token</h3>
          <Secret label="API token" value={created.apiToken} />
          <h3>API key</h3>
          <Secret label="API key" value={created.apiKey} />
        </Dialog>
      )}
    </>
  );
}

/** Senders that wait for an operator; nothing is drawn without any. */
function SenderRequests(): JSX.Element | null {
  const { data, reload } = useData<Listed<SenderRequest>>('api/sender-requests');
  const decide = useAction(async (decision: 'approve' | 'reject', request: SenderRequest) => {
    const { accountId, channel, sender } = request;
    await call('POST', `api/sender-requests/${decision}`, { accountId, channel, sender });
    toast(`${sender} ${decision === 'approve' ? 'approved' : 'rejected'}`);
    await reload();
  });
  if (!data || data.data.length === 0) return null;
  return (
    <Card flush title="Senders that wait for you">
      <ErrorNotice error={decide.error} />
      <Table
        label="Senders that wait"
        rows={data.data}
        id={({ accountId, channel, sender }) => accountId + channel + sender}
        columns={[
          { title: 'Sender', cell: ({ sender }) => <strong>{sender}</strong> },
          { title: 'As', cell: ({ as }) => as },
          { title: 'Account', cell: ({ accountName }) => accountName },
          {
            title: 'Actions',
            actions: true,
            cell: (request) => (
              <>
                <Button
                  aria-label={`Reject ${request.sender}`}
                  disabled={decide.busy}
                  onClick={() => void decide.run('reject', request)}
                >
                  Reject
                </Button>
                <Button
                  kind="primary"
                  aria-label={`Approve ${request.sender}`}
                  disabled={decide.busy}
                  onClick={() => void decide.run('approve', request)}
                >
                  Approve
                </Button>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}
