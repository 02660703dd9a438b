import {
  Card,
  Empty,
  ErrorNotice,
  ExportButton,
  Facts,
  money,
  List,
  PageHeader,
  queryOf,
  type Route,
  Skeleton,
  Time,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type {
  Billing,
  LedgerEntry,
  Listed,
  MonthStatement,
  SpentToday,
} from '../../../portal-api.js';
import { isMonth, monthBefore, monthName, monthOf } from '../../months.js';
import { useSession } from '../../session-data.js';
import { ApiCurl } from '../../components/api-curl.js';
import { Channels, KINDS, StatementView } from './statement.js';
import { Budgets } from './budgets.js';
import { Notices } from './balance-notices.js';

const MODES: Readonly<Record<Billing['mode'], string>> = {
  off: 'Messages are free',
  prepaid: 'Prepaid',
  postpaid: 'Postpaid',
};

/** The money of the account, or the statement of the month in the address. */
export function BillingPage({ route }: { route: Route }): JSX.Element {
  return isMonth(route.id) ? <StatementView month={route.id} /> : <Money route={route} />;
}

function Money({ route }: { route: Route }): JSX.Element {
  const { session } = useSession();
  const isAdmin = session.account?.role === 'admin';
  const { data, error, loading, reload } = useData<Billing>('api/billing', true);
  const list = useData<Listed<LedgerEntry>>(
    `api/billing/entries${queryOf({ cursor: route.query.get('cursor') })}`,
    true,
  );
  return (
    <>
      <PageHeader title="Billing" description="What the account has, and what it was charged." />
      {loading && <Skeleton />}
      <ErrorNotice error={error} retry={reload} />
      {data && <Balance billing={data} />}
      <MonthCard />
      <Card
        flush
        title="Entries"
        description="Each change of the balance, newest first."
        actions={<ExportButton what="entries" masked="api/billing/entries.csv" />}
      >
        <List
          label="Entries"
          list={list}
          id={({ id }) => id}
          columns={[
            { title: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
            { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
            {
              title: 'For',
              cell: ({ kind, reference, note }) =>
                kind === 'charge' || kind === 'refund'
                  ? note
                  : [reference, note].filter(Boolean).join(': '),
            },
            { title: 'Amount', number: true, cell: ({ amount }) => money(amount) },
            { title: 'Balance', number: true, cell: ({ balanceAfter }) => money(balanceAfter) },
          ]}
          empty={
            <Empty icon="wallet" title="No entries">
              Top-ups and charges of messages appear here.
            </Empty>
          }
        />
      </Card>
      {data && <Budgets billing={data} isAdmin={isAdmin} reload={reload} />}
      {data && <Notices billing={data} isAdmin={isAdmin} reload={reload} />}
      <ApiCurl method="GET" path="ng/v1/account/balance" />
    </>
  );
}

function Balance({ billing }: { billing: Billing }): JSX.Element {
  const { mode, balance, reserved, available, creditLimit, currency } = billing;
  const shown = (amount: string): string => `${money(amount)} ${currency ?? ''}`.trim();
  const today = useData<SpentToday>(mode === 'off' ? undefined : 'api/billing/today').data;
  return (
    <Card title="Balance" description={MODES[mode]}>
      <Facts
        rows={[
          ['Available', <strong key="available">{shown(available)}</strong>],
          ['Balance', shown(balance)],
          ['Reserved for messages on their way', shown(reserved)],
          today && [
            'Spent today',
            <span key="today">
              {shown(today.spent)}{' '}
              <small class="muted">charges less refunds since midnight, UTC</small>
            </span>,
          ],
          mode === 'postpaid' && ['Credit limit', shown(creditLimit)],
        ]}
      />
    </Card>
  );
}

/** The present month, and the way to the statements of others. */
function MonthCard(): JSX.Element {
  const month = monthOf(new Date());
  const { data, error, loading, reload } = useData<MonthStatement>(
    `api/billing/statement${queryOf({ month })}`,
  );
  return (
    <Card
      flush
      title="This month"
      description="What messages cost, by the time of their charge (UTC)."
      actions={
        <>
          <a class="button plain" href={`billing/${month}`}>
            Statement
          </a>
          <a class="button plain" href={`billing/${monthBefore(month)}`}>
            {monthName(monthBefore(month))}
          </a>
        </>
      }
    >
      {loading && <Skeleton lines={3} />}
      <ErrorNotice error={error} retry={reload} />
      {data && <Channels statement={data} />}
    </Card>
  );
}
