import { Card, Empty, formatNumber, Table, useChannelTitle } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { ChangedRateRow, RateComparison, RateRow, RateRows } from '../../../portal-api.js';

type Changes = Pick<RateComparison, 'currency' | 'added' | 'removed' | 'changed' | 'same'> &
  Partial<Pick<RateComparison, 'formerCurrency'>>;

/** Changed, added and removed rates, each list by itself. */
export function RateChangeTables({ changes }: { changes: Changes }): JSX.Element {
  const { currency, formerCurrency = currency, added, removed, changed, same } = changes;
  const lists = [added, removed, changed];
  if (lists.every(({ count }) => count === 0))
    return (
      <Card>
        <Empty icon="check" title="Nothing changes">
          {`${formatNumber(same)} rates are the same.`}
        </Empty>
      </Card>
    );
  const price = (title: string, of: string) => ({
    title: `${title} in ${of}`,
    number: true,
    cell: (row: RateRow) => priceOf(row.price, row.billing),
  });
  return (
    <>
      <p class="muted">
        {`${formatNumber(changed.count)} changed, ${formatNumber(added.count)} added, ${formatNumber(removed.count)} removed, ${formatNumber(same)} unchanged.`}
      </p>
      <Rows<ChangedRateRow>
        title="Changed"
        list={changed}
        columns={[
          {
            title: `Former price in ${formerCurrency}`,
            number: true,
            cell: ({ formerPrice, formerBilling }) => priceOf(formerPrice, formerBilling),
          },
          price('Price', currency),
        ]}
      />
      <Rows title="Added" list={added} columns={[price('Price', currency)]} />
      <Rows title="Removed" list={removed} columns={[price('Former price', formerCurrency)]} />
    </>
  );
}

function Rows<T extends RateRow>(props: {
  title: string;
  list: RateRows<T>;
  columns: Parameters<typeof Table<T>>[0]['columns'];
}): JSX.Element | null {
  const { title, list, columns } = props;
  const titleOf = useChannelTitle();
  if (list.count === 0) return null;
  const more = list.count - list.rows.length;
  return (
    <Card
      flush
      title={`${title}: ${formatNumber(list.count)}`}
      description={
        more > 0 &&
        `The first ${formatNumber(list.rows.length)} are shown; dundun rates compare prints all.`
      }
    >
      <Table<T>
        label={`${title} rates`}
        rows={list.rows}
        id={({ channel, category, prefix }) => `${channel} ${category} ${prefix}`}
        columns={[
          { title: 'Channel', cell: ({ channel }) => titleOf(channel) },
          { title: 'Category', cell: ({ category }) => category ?? '–' },
          { title: 'Prefix', cell: ({ prefix }) => prefixWords(prefix) },
          ...columns,
        ]}
      />
    </Card>
  );
}

export function prefixWords(prefix: RateRow['prefix']): string {
  return prefix === '*' ? 'every other' : prefix;
}

/** Such as `15.00, 60/60 s`. */
export function priceOf(price: string, billing: string | null): string {
  return billing === null ? price : `${price}, ${billing} s`;
}
