import {
  Button,
  call,
  Card,
  Empty,
  ErrorNotice,
  ExportButton,
  Facts,
  Field,
  formatNumber,
  money,
  fullTime,
  List,
  PageHeader,
  queryOf,
  type Route,
  Select,
  Skeleton,
  Table,
  TextArea,
  Time,
  useChannelTitle,
  useData,
} from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import type {
  BalanceNotices,
  Billing,
  Budget,
  LedgerEntry,
  Listed,
  MonthStatement,
  SpentToday,
} from '../../../portal-api.js';
import { countryName } from '../../countries.js';
import { isMonth, monthAfter, monthBefore, monthName, monthOf } from '../../months.js';
import { useSession } from '../../session-data.js';
import { ApiCurl } from '../../components/api-curl.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';

const KINDS: Readonly<Record<LedgerEntry['kind'], string>> = {
  top_up: 'Top-up',
  adjustment: 'Adjustment',
  charge: 'Charge',
  refund: 'Refund',
};

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
              {shown(today.spent)} <small class="muted">since midnight, UTC</small>
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

function Channels({ statement }: { statement: MonthStatement }): JSX.Element {
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
function StatementView({ month }: { month: string }): JSX.Element {
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

interface SettingsProps {
  billing: Billing;
  isAdmin: boolean;
  reload: () => Promise<unknown>;
}

function Budgets({ billing, isAdmin, reload }: SettingsProps): JSX.Element {
  const { budgets, currency } = billing;
  return (
    <Card
      flush
      title="Budgets"
      description="A send that would exceed one is refused. Days and months are of UTC."
      actions={
        isAdmin && (
          <FormButton
            label="Set a budget"
            icon="plus"
            title="Set a budget"
            submit="Set"
            done="The budget is set"
            reload={reload}
            action={(form) =>
              call('POST', 'api/billing/budgets', {
                period: form.get('period'),
                limit: form.get('limit'),
                ...(form.get('key') && { key: form.get('key') }),
              })
            }
          >
            {(refusal) => (
              <>
                <Select
                  label="Period"
                  name="period"
                  options={[
                    ['month', 'Month'],
                    ['day', 'Day'],
                  ]}
                />
                <Field
                  label={`Limit in ${currency ?? 'the currency of the account'}`}
                  name="limit"
                  inputMode="decimal"
                  required
                  error={refusal?.fields['limit']}
                />
                <Field
                  label="Key"
                  name="key"
                  hint="The id of a key or a named token, or api_token; empty for the whole account"
                  autocomplete="off"
                  error={refusal?.fields['key']}
                />
              </>
            )}
          </FormButton>
        )
      }
    >
      {budgets.length === 0 ? (
        <Empty icon="shield" title="No budgets">
          The account may spend all that is available.
        </Empty>
      ) : (
        <Table
          label="Budgets"
          rows={budgets}
          id={({ key, period }) => `${key} ${period}`}
          columns={[
            { title: 'For', cell: ({ key }) => keyName(key ?? undefined, 'The account') },
            { title: 'Period', cell: ({ period }) => (period === 'day' ? 'Day' : 'Month') },
            { title: 'Spent', number: true, cell: ({ spent }) => money(spent) },
            { title: 'Limit', number: true, cell: ({ limit }) => money(limit) },
            { title: 'Begins anew', cell: ({ resetsAt }) => fullTime(resetsAt) },
            {
              title: 'Actions',
              actions: true,
              cell: (budget) =>
                isAdmin && (
                  <ConfirmButton
                    label="Remove"
                    name={`Remove the budget of ${nameOf(budget)}`}
                    title={`Remove the budget of ${nameOf(budget)}?`}
                    confirm="Remove"
                    done="The budget is removed"
                    reload={reload}
                    action={() =>
                      call('POST', 'api/billing/budgets/remove', {
                        period: budget.period,
                        ...(budget.key !== null && { key: budget.key }),
                      })
                    }
                  >
                    Its sends are then limited by the balance alone.
                  </ConfirmButton>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function nameOf({ key, period }: Budget): string {
  return `${key ?? 'the account'} for the ${period}`;
}

function Notices({ billing, isAdmin, reload }: SettingsProps): JSX.Element {
  const { notices, canMail, currency } = billing;
  return (
    <Card
      title="Low balance"
      description="Webhooks get account.balance_low below each amount, and account.balance_exhausted once nothing is left."
      actions={isAdmin && <NoticesButton {...{ notices, canMail, currency, reload }} />}
    >
      <Facts
        rows={[
          ['Amounts', listed(notices.thresholds.map(money))],
          ['E-mails to', canMail ? listed(notices.emails) : 'this gateway sends none'],
        ]}
      />
    </Card>
  );
}

function NoticesButton(
  props: Pick<Billing, 'notices' | 'canMail' | 'currency'> & Pick<SettingsProps, 'reload'>,
): JSX.Element {
  const { notices, canMail, currency } = props;
  return (
    <FormButton
      label="Change"
      name="Change the notices of a low balance"
      title="Low balance"
      submit="Save"
      done="The notices are changed"
      reload={props.reload}
      action={(form) => {
        const body: BalanceNotices = {
          thresholds: linesOf(form.get('thresholds')),
          emails: linesOf(form.get('emails')),
        };
        return call('PUT', 'api/billing/notices', body);
      }}
    >
      {(refusal) => (
        <>
          <TextArea
            label={`Amounts in ${currency ?? 'the currency of the account'}`}
            name="thresholds"
            rows={3}
            hint="One a line, at most ten"
            defaultValue={notices.thresholds.join('\n')}
            error={errorOf(refusal?.fields, 'thresholds')}
          />
          {canMail && (
            <TextArea
              label="E-mail addresses"
              name="emails"
              rows={3}
              hint="One a line, at most five"
              defaultValue={notices.emails.join('\n')}
              error={errorOf(refusal?.fields, 'emails')}
            />
          )}
        </>
      )}
    </FormButton>
  );
}

/** The error of a list, or of its first wrong entry. */
function errorOf(
  fields: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  const [found] = Object.entries(fields ?? {}).filter(([path]) => path.split('[')[0] === name);
  return found?.[1];
}

function linesOf(text: FormDataEntryValue | null): string[] {
  return (typeof text === 'string' ? text : '').split(/[\s,]+/).filter(Boolean);
}

function listed(texts: readonly string[]): ComponentChildren {
  return texts.length === 0 ? 'none' : texts.join(', ');
}

function keyName(key: string | undefined, none: string): JSX.Element | string {
  if (key === undefined) return none;
  return key === 'api_token' ? 'API token' : <code>{key}</code>;
}
