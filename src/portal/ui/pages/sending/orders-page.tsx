import {
  Badge,
  Card,
  Empty,
  ErrorNotice,
  Field,
  Button,
  call,
  List,
  Notice,
  PageHeader,
  queryOf,
  type Route,
  SavedViews,
  SearchBox,
  Select,
  StatusBadge,
  Table,
  Time,
  toast,
  useAction,
  useData,
  money,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Listed, OpenOrders, PlacedOrder } from '../../../portal-api.js';
import { useSession } from '../../session-data.js';
import { ApiCurl } from '../../components/api-curl.js';
import { FormButton } from '../../components/form-button.js';

/** Orders of airtime and data of the account. */
export function OrdersPage({ route }: { route: Route }): JSX.Element {
  const { session } = useSession();
  const q = route.query.get('q');
  const list = useData<Listed<PlacedOrder>>(
    `api/orders${queryOf({ q, cursor: route.query.get('cursor') })}`,
    true,
  );
  const accountId = session.account?.id ?? '';
  return (
    <>
      <PageHeader
        title="Orders"
        description="Airtime, data and bills, newest first; each client reference is ordered once."
      />
      <div class="filters" role="search" aria-label="Orders">
        <SearchBox placeholder="Client reference or order id" />
        <SavedViews page="orders" />
      </div>
      <Card flush>
        <List
          label="Orders"
          list={list}
          id={({ id }) => id}
          to={({ id }) => `messages/${id}-0`}
          columns={[
            { title: 'Client reference', cell: ({ clientReference }) => clientReference },
            {
              title: 'Status',
              cell: ({ status, settlement }) => (
                <span class="chips">
                  <StatusBadge channel="vas" status={status} />
                  {settlement && <Badge>settled by {settlement.by}</Badge>}
                </span>
              ),
            },
            {
              title: 'Recipient',
              cell: ({ to, product }) => (
                <>
                  <span class="whole">{to || 'erased'}</span> <small class="muted">{product}</small>
                </>
              ),
            },
            {
              title: 'Amount',
              number: true,
              cell: ({ amount, currency }) => `${money(amount)} ${currency}`,
            },
            { title: 'Ordered', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: 'Actions',
              actions: true,
              cell: (order) =>
                session.user?.isOperator &&
                order.canSettle && (
                  <SettleButton order={order} accountId={accountId} done={list.reload} />
                ),
            },
          ]}
          empty={
            q ? (
              <Empty icon="search" title="No order has this reference or id" />
            ) : (
              <Empty icon="bag" title="No orders">
                Programs order by the API; the orders and what became of them appear here.
              </Empty>
            )
          }
        />
      </Card>
      <ApiCurl method="GET" path="ng/v1/vas/orders" />
    </>
  );
}

/** Records the outcome of an order whose operator does not report it. */
function SettleButton(props: {
  order: PlacedOrder;
  accountId: string;
  done: () => Promise<unknown>;
}): JSX.Element {
  const { id, clientReference, amount, currency } = props.order;
  return (
    <FormButton
      label="Settle"
      name={`Settle ${clientReference}`}
      title={`Settle ${clientReference}`}
      submit="Settle"
      action={(form) =>
        call('POST', `api/open-orders/${id}/settle`, {
          accountId: props.accountId,
          as: form.get('as'),
          note: form.get('note'),
        })
      }
      done={`${clientReference} is settled`}
      reload={props.done}
    >
      {(refusal) => (
        <>
          <p>
            Look the {money(amount)} {currency} up in the book of the provider first. The account is
            told, and your name is recorded.
          </p>
          <Select
            label="What became of it"
            name="as"
            options={[
              ['delivered', 'delivered'],
              ['failed', 'failed: nothing was charged'],
            ]}
          />
          <Field
            label="Why"
            name="note"
            maxLength={1_000}
            autocomplete="off"
            error={refusal?.fields['note']}
          />
        </>
      )}
    </FormButton>
  );
}

/** Orders of all accounts that wait for an operator; nothing is drawn without any. */
export function OpenOrdersCard(): JSX.Element | null {
  const { data, reload } = useData<OpenOrders>('api/open-orders');
  const release = useAction(async () => {
    await call('POST', 'api/open-orders/release');
    toast('The orders are released');
    await reload();
  });
  if (!data) return null;
  return (
    <>
      {data.heldSince && (
        <Notice
          tone="warning"
          title="Orders are held: the database is a restored backup"
          action={
            <Button busy={release.busy} onClick={() => void release.run()}>
              Release the orders
            </Button>
          }
        >
          The provider recognises those that it has by their keys. Release the other lanes first.
        </Notice>
      )}
      <ErrorNotice error={release.error} />
      {data.data.length > 0 && (
        <Card flush title="Orders without an outcome for a day">
          <Table
            label="Orders without an outcome"
            rows={data.data}
            id={({ id }) => id}
            columns={[
              { title: 'Client reference', cell: (one) => <strong>{one.clientReference}</strong> },
              { title: 'Account', cell: ({ accountName }) => accountName },
              {
                title: 'Status',
                cell: ({ status }) => <StatusBadge channel="vas" status={status} />,
              },
              {
                title: 'Amount',
                number: true,
                cell: ({ amount, currency }) => `${money(amount)} ${currency}`,
              },
              { title: 'Ordered', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                title: 'Actions',
                actions: true,
                cell: (order) => (
                  <SettleButton order={order} accountId={order.accountId} done={reload} />
                ),
              },
            ]}
          />
        </Card>
      )}
    </>
  );
}
