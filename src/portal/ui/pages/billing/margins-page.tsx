import {
  money,
  moneyOf,
  ApiError,
  call,
  Card,
  Empty,
  ErrorNotice,
  Filter,
  formatNumber,
  Notice,
  PageHeader,
  plural,
  queryOf,
  type Route,
  setQuery,
  Skeleton,
  Table,
  useChannelTitle,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LowestBalances, MarginRow, MarginsPart } from '../../../portal-api.js';
import { accountAddress } from '../../addresses.js';
import { countryName } from '../../countries.js';
import { type MarginGroup, marginGroups, marginOf, marginShare } from '../../margins.js';
import { isMonth, monthAfter, monthBefore, monthName, monthOf } from '../../months.js';

const GROUPS = { carrier: 'carrier and country', account: 'account', channel: 'channel' } as const;

type Group = keyof typeof GROUPS;

const NAMES: Readonly<Record<Group, (row: MarginRow) => string>> = {
  carrier: ({ carrier, country }) => `${carrier} ${country}`,
  account: ({ accountId }) => accountId,
  channel: ({ channel }) => channel,
};

/** What the messages of a month brought and cost; the month is in the address. */
export function MarginsPage({ route }: { route: Route }): JSX.Element {
  const present = monthOf(new Date());
  const month = isMonth(route.id) ? route.id : present;
  const asked = route.query.get('by');
  const by = asked === 'account' || asked === 'channel' ? asked : 'carrier';
  const { rows, read, error, retry } = useMonth(month);
  const addressOf = (of: string): string =>
    `margins/${of}${queryOf({ by: by === 'carrier' ? '' : by })}`;
  return (
    <>
      <PageHeader
        title={`Margins of ${monthName(month)}`}
        description="Price less cost of messages of accounts that pay, by the month of their acceptance (UTC)."
      >
        <a class="button plain" href={addressOf(monthBefore(month))}>
          {monthName(monthBefore(month))}
        </a>
        {month < present && (
          <a class="button plain" href={addressOf(monthAfter(month))}>
            {monthName(monthAfter(month))}
          </a>
        )}
        <Filter
          label="Grouped by"
          value={by === 'carrier' ? '' : by}
          all={`By ${GROUPS.carrier}`}
          options={[
            ['account', `By ${GROUPS.account}`],
            ['channel', `By ${GROUPS.channel}`],
          ]}
          onChange={(group) => setQuery({ by: group })}
        />
      </PageHeader>
      <ErrorNotice error={error} retry={retry} />
      {!rows && !error && (
        <>
          <Skeleton lines={8} />
          <p class="muted" role="status">
            {read > 0 && `${plural(read, 'message')} read so far`}
          </p>
        </>
      )}
      {rows && <Month rows={rows} by={by} />}
      <Balances />
    </>
  );
}

interface ReadMonth {
  /** `undefined`: it is being read. */
  readonly rows?: readonly MarginRow[];
  /** Messages so far. */
  readonly read: number;
  readonly error?: ApiError;
}

/** Reads a month part by part. */
function useMonth(month: string): ReadMonth & { retry: () => void } {
  const [state, setState] = useState<ReadMonth & { month: string }>({ month, read: 0 });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const rows: MarginRow[] = [];
    const readParts = async (): Promise<void> => {
      let read = 0;
      setState({ month, read });
      for (let cursor: string | null = ''; cursor !== null;) {
        const path: string = `api/margins${queryOf({ month, cursor })}`;
        const part: MarginsPart = await call<MarginsPart>('GET', path, undefined, { signal });
        rows.push(...part.rows);
        read += part.read;
        cursor = part.nextCursor;
        setState({ month, read, ...(cursor === null && { rows }) });
      }
    };
    readParts().catch((error: unknown) => {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      setState({ month, read: 0, error });
    });
    return () => controller.abort();
  }, [month, tries]);
  const own = state.month === month ? state : { read: 0 };
  return { ...own, retry: () => setTries(tries + 1) };
}

function Month({ rows, by }: { rows: readonly MarginRow[]; by: Group }): JSX.Element {
  const titleOf = useChannelTitle();
  if (rows.length === 0)
    return (
      <Card>
        <Empty icon="chart" title="No messages in this month">
          Messages of accounts that are prepaid or postpaid appear here.
        </Empty>
      </Card>
    );
  const unknown = rows
    .filter(({ costCurrency }) => costCurrency === null)
    .reduce((sum, { messages }) => sum + messages, 0);
  const firstOf: Readonly<Record<Group, Columns>> = {
    carrier: [
      { title: 'Carrier', cell: ({ first }) => first.carrier || 'not known' },
      { title: 'Country', cell: ({ first }) => countryName(first.country) },
    ],
    account: [
      {
        title: 'Account',
        cell: ({ first }) => (
          <a href={accountAddress(first.accountId)} target="_self">
            {first.accountName}
          </a>
        ),
      },
    ],
    channel: [{ title: 'Channel', cell: ({ first }) => titleOf(first.channel) }],
  };
  return (
    <>
      {unknown > 0 && (
        <Notice title={`The cost of ${plural(unknown, 'message')} is not known.`}>
          It is what the carrier reports, or the prices of the carrier in CARRIERS_FILE, which needs
          their currency there too.
        </Notice>
      )}
      <Card flush title="Together">
        <Groups
          label="Together"
          groups={marginGroups(rows, () => '')}
          columns={[{ title: 'Currency', cell: ({ first }) => <strong>{first.currency}</strong> }]}
        />
      </Card>
      <Card flush title={`By ${GROUPS[by]}`}>
        <Groups
          label={`By ${GROUPS[by]}`}
          groups={marginGroups(rows, NAMES[by])}
          columns={firstOf[by]}
        />
      </Card>
    </>
  );
}

type Columns = Parameters<typeof Table<MarginGroup>>[0]['columns'];

function Groups(props: {
  label: string;
  groups: readonly MarginGroup[];
  columns: Columns;
}): JSX.Element {
  return (
    <Table<MarginGroup>
      label={props.label}
      rows={props.groups}
      id={({ first }) => JSON.stringify(first)}
      columns={[
        ...props.columns,
        { title: 'Messages', number: true, cell: ({ messages }) => formatNumber(messages) },
        {
          title: 'Price',
          number: true,
          cell: ({ first, price }) => `${moneyOf(price)} ${first.currency}`,
        },
        { title: 'Cost', number: true, cell: (group) => <Costs {...group} /> },
        {
          title: 'Margin',
          number: true,
          cell: (group) => {
            const margin = marginOf(group);
            if (margin === undefined) return '–';
            const { first, messages, compared } = group;
            const isPart = compared.messages < messages;
            return (
              <>
                {`${moneyOf(margin)} ${first.currency}`}
                {isPart && <div class="muted">{`of ${plural(compared.messages, 'message')}`}</div>}
              </>
            );
          },
        },
        { title: 'Of the price', number: true, cell: marginShare },
      ]}
    />
  );
}

/** A line for each currency, and one for messages whose cost is not known. */
function Costs({ costs, unknown }: MarginGroup): JSX.Element {
  return (
    <>
      {[...costs].map(([currency, cost]) => (
        <div key={currency}>{`${moneyOf(cost)} ${currency}`}</div>
      ))}
      {unknown > 0 && (
        <div class="muted">
          {costs.size === 0 ? 'not known' : `${formatNumber(unknown)} not known`}
        </div>
      )}
    </>
  );
}

/** Accounts that pay, those that may spend least first. */
function Balances(): JSX.Element {
  const { data, error, loading, reload } = useData<LowestBalances>('api/margins/balances', true);
  return (
    <Card
      flush
      title="Accounts by balance"
      description={
        data &&
        `${plural(data.accounts, 'account')} that ${data.accounts === 1 ? 'pays' : 'pay'}, ${formatNumber(data.empty)} without anything to spend`
      }
    >
      {loading && <Skeleton lines={3} />}
      <ErrorNotice error={error} retry={reload} />
      {data &&
        (data.data.length === 0 ? (
          <Empty icon="wallet" title="No account pays for its messages" />
        ) : (
          <Table
            label="Accounts by balance"
            rows={data.data}
            id={({ accountId }) => accountId}
            columns={[
              {
                title: 'Account',
                cell: ({ accountId, name }) => (
                  <a href={accountAddress(accountId, 'billing')} target="_self">
                    {name}
                  </a>
                ),
              },
              {
                title: 'Available',
                number: true,
                cell: ({ available, currency }) => `${money(available)} ${currency}`,
              },
            ]}
          />
        ))}
    </Card>
  );
}
