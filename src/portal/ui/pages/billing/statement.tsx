import {
  Button,
  Card,
  Empty,
  ErrorNotice,
  ExportButton,
  Facts,
  formatNumber,
  money,
  PageHeader,
  queryOf,
  Skeleton,
  Table,
  useChannelTitle,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { LedgerEntry, MonthStatement } from '../../../portal-api.js';
import { countryName } from '../../countries.js';
import { monthAfter, monthBefore, monthName, monthOf } from '../../months.js';

export const KINDS: Readonly<Record<LedgerEntry['kind'], string>> = {
  top_up: 'Top-up',
  adjustment: 'Adjustment',
  charge: 'Charge',
  refund: 'Refund',
};

export function Channels({ statement }: { statement: MonthStatement }): JSX.Element {
  const titleOf = useChannelTitle();
  if (statement.channels.length === 0)
    return <Empty icon="chart" title="No message was charged in this month" />;
  return (
    <Table
      label="Messages by channel and country"
      rows={statement.channels}
      id={({ channel, country }) => `${channel} ${country}`}
      columns={[
        {
          title: 'Channel',
          cell: ({ channel }) => (channel ? titleOf(channel) : 'From before this version'),
        },
        { title: 'Country', cell: ({ country }) => countryName(country) },
        { title: 'Messages', number: true, cell: ({ messages }) => formatNumber(messages) },
        { title: 'Parts', number: true, cell: ({ parts }) => formatNumber(parts) },
        amountColumn(statement.currency),
      ]}
    />
  );
}

function amountColumn(currency: string | null) {
  return {
    title: currency === null ? 'Amount' : `Amount in ${currency}`,
    number: true,
    cell: ({ amount }: { readonly amount: string }) => money(amount),
  };
}

/** Everything of a month on one page, for the screen and for paper. */
export function StatementView({ month }: { month: string }): JSX.Element {
  const { data, error, loading, reload } = useData<MonthStatement>(
    `api/billing/statement${queryOf({ month })}`,
  );
  const next = monthAfter(month);
  return (
    <>
      <PageHeader
        back={{ label: 'Billing', to: 'billing' }}
        title={`Statement of ${monthName(month)}`}
        description={data && `${data.accountName}, ${data.accountId}`}
      >
        <a class="button plain" href={`billing/${monthBefore(month)}`}>
          {monthName(monthBefore(month))}
        </a>
        {next <= monthOf(new Date()) && (
          <a class="button plain" href={`billing/${next}`}>
            {monthName(next)}
          </a>
        )}
        <ExportButton what="statement" masked={`api/billing/statement.csv${queryOf({ month })}`} />
        <Button icon="file" onClick={() => window.print()}>
          Print
        </Button>
      </PageHeader>
      {loading && <Skeleton lines={10} />}
      <ErrorNotice error={error} retry={reload} />
      {data && <StatementCards statement={data} />}
    </>
  );
}

function StatementCards({ statement }: { statement: MonthStatement }): JSX.Element {
  const { opening, closing, currency, entries, keys } = statement;
  const shown = (amount: string): string => `${money(amount)} ${currency ?? ''}`.trim();
  return (
    <>
      <Card title="Balance" description="At the start and the end of the month (UTC)">
        <Facts
          rows={[
            ['Opening balance', shown(opening)],
            ['Closing balance', <strong key="closing">{shown(closing)}</strong>],
          ]}
        />
      </Card>
      <Card flush title="Entries by kind">
        <Table
          label="Entries by kind"
          rows={entries}
          id={({ kind }) => kind}
          columns={[
            { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
            { title: 'Entries', number: true, cell: ({ count }) => formatNumber(count) },
            amountColumn(currency),
          ]}
        />
      </Card>
      <Card flush title="Messages by channel and country" description="Charges less refunds">
        <Channels statement={statement} />
      </Card>
      {keys.length > 0 && (
        <Card flush title="Messages by key">
          <Table
            label="Messages by key"
            rows={keys}
            id={({ key }) => key ?? ''}
            columns={[
              { title: 'Key', cell: ({ key }) => keyName(key ?? undefined, 'No key') },
              { title: 'Messages', number: true, cell: ({ messages }) => formatNumber(messages) },
              { title: 'Parts', number: true, cell: ({ parts }) => formatNumber(parts) },
              amountColumn(currency),
            ]}
          />
        </Card>
      )}
    </>
  );
}

export function keyName(key: string | undefined, none: string): JSX.Element | string {
  if (key === undefined) return none;
  return key === 'api_token' ? 'API token' : <code>{key}</code>;
}
