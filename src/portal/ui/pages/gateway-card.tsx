import {
  Badge,
  Card,
  duration,
  ErrorNotice,
  formatNumber,
  percent,
  plural,
  Table,
  useData,
  money,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { GatewayFigures, HomeFigures } from '../../portal-api.js';
import { accountAddress } from '../addresses.js';

/** All accounts together, for operators. */
export function GatewayCard(): JSX.Element | null {
  const { data, error, reload } = useData<GatewayFigures>('api/gateway', true);
  if (error) return <ErrorNotice error={error} retry={reload} />;
  if (!data) return null;
  return (
    <>
      <Volume figures={data} />
      <div class="columns">
        <Card title="Lanes now">
          <Lanes lanes={data.lanes} />
        </Card>
        <Card title="Balances">
          <Balances balances={data.balances} />
        </Card>
      </div>
      <Card flush title="Carriers, last 24 hours">
        <Table
          label="Carriers"
          rows={data.carriers}
          id={({ name }) => name}
          columns={[
            { title: 'Carrier', cell: ({ name }) => <strong>{name}</strong> },
            { title: 'Messages', number: true, cell: ({ accepted }) => formatNumber(accepted) },
            {
              title: 'Delivered',
              number: true,
              cell: ({ delivered, accepted }) => percent(delivered, accepted),
            },
            { title: 'Failed', number: true, cell: ({ failed }) => formatNumber(failed) },
            { title: 'Unknown', number: true, cell: ({ unknown }) => formatNumber(unknown) },
            {
              title: 'State',
              cell: ({ pausedLanes }) =>
                pausedLanes === 0 ? (
                  <Badge tone="success">accepts</Badge>
                ) : (
                  <Badge tone="warning">{plural(pausedLanes, 'lane')} paused</Badge>
                ),
            },
          ]}
        />
      </Card>
    </>
  );
}

const FIGURES = [
  ['Messages', 'accepted', 'info'],
  ['Delivered', 'delivered', 'success'],
  ['Failed', 'failed', 'danger'],
  ['Unknown', 'unknown', 'warning'],
] as const satisfies readonly (readonly [string, keyof HomeFigures, string])[];

function Volume({ figures }: { figures: GatewayFigures }): JSX.Element {
  const { messages, former } = figures;
  return (
    <ul class="funnel of-four" aria-label="All accounts, last 24 hours">
      {FIGURES.map(([title, name, tone]) => (
        <li key={name} class={tone}>
          <span class="funnel-title">{title}</span>
          <strong>{formatNumber(messages[name])}</strong>
          <span class="muted small">{formatNumber(former[name])} the day before</span>
        </li>
      ))}
    </ul>
  );
}

function Lanes({ lanes }: { lanes: GatewayFigures['lanes'] }): JSX.Element {
  const { waiting, paused, held, longest } = lanes;
  return (
    <>
      <p class="badges">
        <Badge tone={waiting > 0 ? 'warning' : 'success'}>{plural(waiting, 'lane')} waiting</Badge>{' '}
        <Badge tone={paused > 0 ? 'warning' : 'success'}>{plural(paused, 'lane')} paused</Badge>{' '}
        <Badge tone={held > 0 ? 'danger' : 'success'}>{plural(held, 'lane')} held</Badge>
      </p>
      <p class="muted">
        {longest > 0
          ? `The oldest due message waits ${duration(longest)}.`
          : 'No due message waits.'}{' '}
        <a href="lanes">Open Lanes</a>
      </p>
    </>
  );
}

function Balances({ balances }: { balances: GatewayFigures['balances'] }): JSX.Element {
  const { accounts, empty, lowest } = balances;
  if (accounts === 0) return <p class="muted">No account pays for its messages.</p>;
  return (
    <>
      <p>
        {plural(accounts, 'account')} {accounts === 1 ? 'pays' : 'pay'}
        {empty > 0 && `, ${formatNumber(empty)} without anything to spend`}.
      </p>
      <ul class="rows">
        {lowest.map(({ accountId, name, available, currency }) => (
          <li key={accountId}>
            <a href={accountAddress(accountId)} target="_self">
              {name}
            </a>{' '}
            {money(available)} {currency}
          </li>
        ))}
      </ul>
    </>
  );
}
