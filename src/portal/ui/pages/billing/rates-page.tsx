import {
  Badge,
  Card,
  Empty,
  ErrorNotice,
  Filter,
  formatNumber,
  fullTime,
  PageHeader,
  queryOf,
  type Route,
  SearchBox,
  setQuery,
  Skeleton,
  Table,
  type Tone,
  useChannelTitle,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { FoundRateRow, Listed, RateComparison, RateVersionRow } from '../../../portal-api.js';
import { ImportRates } from './rates-import.js';
import { prefixWords, priceOf, RateChangeTables } from './rate-changes.js';

const DEFAULT_CARD = 'default';

const TONES: Readonly<Record<RateVersionRow['state'], Tone>> = {
  'in force': 'success',
  later: 'info',
  former: 'neutral',
};

/** The rate cards; `rates/import` adds a version, `rates/compare` compares two. */
export function RatesPage({ route }: { route: Route }): JSX.Element {
  const list = useData<Listed<RateVersionRow>>('api/rates');
  const { data, error, loading, reload } = list;
  if (!data)
    return (
      <>
        <PageHeader title="Rates" />
        {loading && <Skeleton lines={10} />}
        <ErrorNotice error={error} retry={reload} />
      </>
    );
  if (route.id === 'import') return <ImportRates versions={data.data} done={reload} />;
  if (route.id === 'compare') return <Compare route={route} versions={data.data} />;
  return <Cards route={route} versions={data.data} />;
}

interface VersionsProps {
  route: Route;
  versions: readonly RateVersionRow[];
}

function Cards({ route, versions }: VersionsProps): JSX.Element {
  return (
    <>
      <PageHeader title="Rates" description="Rate cards: what accounts pay for their messages.">
        <a class="button primary" href="rates/import">
          Import a version
        </a>
      </PageHeader>
      <Search route={route} versions={versions} />
      <Card
        flush
        title="Versions"
        description="A version is in force from its start until the next one of its card starts."
      >
        {versions.length === 0 ? (
          <Empty icon="tag" title="No rate cards">
            Messages are free until a version is imported.
          </Empty>
        ) : (
          <Table
            label="Versions"
            rows={versions.toReversed()}
            id={({ id }) => id}
            columns={[
              { title: 'Card', cell: ({ card }) => <strong>{card}</strong> },
              { title: 'Starts', cell: (version) => startOf(version) },
              {
                title: 'State',
                cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>,
              },
              { title: 'Currency', cell: ({ currency }) => currency },
              { title: 'Rates', number: true, cell: ({ rates }) => formatNumber(rates) },
              {
                title: 'Actions',
                actions: true,
                cell: (version) => {
                  const former = before(versions, version);
                  return (
                    former && (
                      <a
                        class="button plain"
                        href={compared(former.id, version.id)}
                        aria-label={`Compare ${nameOf(version)} with the one before`}
                      >
                        Compare
                      </a>
                    )
                  );
                },
              },
            ]}
          />
        )}
      </Card>
    </>
  );
}

/** The rates that price messages to a number, now and later. */
function Search({ route, versions }: VersionsProps): JSX.Element {
  const titleOf = useChannelTitle();
  const card = route.query.get('card') ?? DEFAULT_CARD;
  const number = (route.query.get('number') ?? '').replaceAll(/^\+|[\s\-().]/g, '');
  const others = [...new Set(versions.map((version) => version.card))].filter(
    (name) => name !== DEFAULT_CARD,
  );
  const { data, error, loading, reload } = useData<Listed<FoundRateRow>>(
    number ? `api/rates/find${queryOf({ card, number })}` : undefined,
  );
  return (
    <Card
      flush
      title="Price of a number"
      description="By the longest prefix, on each channel and in each category"
    >
      <div class="filters inside" role="search" aria-label="Price of a number">
        <SearchBox placeholder="Number with country code" name="number" />
        {others.length > 0 && (
          <Filter
            label="Card"
            value={card === DEFAULT_CARD ? '' : card}
            all={`Card ${DEFAULT_CARD}`}
            options={others.map((name) => [name, `Card ${name}`])}
            onChange={(chosen) => setQuery({ card: chosen })}
          />
        )}
      </div>
      {loading && <Skeleton lines={3} />}
      <ErrorNotice error={error} retry={reload} />
      {data && (
        <Table
          label="Prices of the number"
          rows={data.data}
          id={({ version, channel, category }) => `${version} ${channel} ${category}`}
          columns={[
            { title: 'Channel', cell: ({ channel }) => titleOf(channel) },
            { title: 'Category', cell: ({ category }) => category ?? '–' },
            { title: 'Prefix', cell: ({ prefix }) => prefixWords(prefix) },
            {
              title: 'Price',
              number: true,
              cell: ({ price, currency, billing }) => priceOf(`${price} ${currency}`, billing),
            },
            { title: 'From', cell: (found) => startOf(found) },
          ]}
        />
      )}
    </Card>
  );
}

function Compare({ route, versions }: VersionsProps): JSX.Element {
  const [older = '', newer = ''] = ['before', 'after'].map((name) => route.query.get(name) ?? '');
  const { data, error, loading, reload } = useData<RateComparison>(
    older && newer ? `api/rates/compare${queryOf({ before: older, after: newer })}` : undefined,
  );
  const options = versions.toReversed().map(({ id, ...version }) => [id, nameOf(version)] as const);
  return (
    <>
      <PageHeader
        back={{ label: 'Rates', to: 'rates' }}
        title="Compare versions"
        description="What the second version changes of the first one."
      >
        <Filter
          label="First version"
          value={older}
          all="First version"
          options={options}
          onChange={(version) => setQuery({ before: version })}
        />
        <Filter
          label="Second version"
          value={newer}
          all="Second version"
          options={options}
          onChange={(version) => setQuery({ after: version })}
        />
      </PageHeader>
      {loading && <Skeleton lines={8} />}
      <ErrorNotice error={error} retry={reload} />
      {data ? (
        <RateChangeTables changes={data} />
      ) : (
        !(older && newer) && (
          <Card>
            <Empty icon="layers" title="Choose two versions" />
          </Card>
        )
      )}
    </>
  );
}

function startOf({ startsAt }: Pick<RateVersionRow, 'startsAt'>): string {
  return startsAt === null ? 'Variables of the gateway' : fullTime(startsAt);
}

function nameOf({ card, startsAt }: Pick<RateVersionRow, 'card' | 'startsAt'>): string {
  return `${card}, ${startsAt === null ? 'variables' : fullTime(startsAt)}`;
}

/** The version of the same card before this one. */
function before(
  versions: readonly RateVersionRow[],
  { id, card }: RateVersionRow,
): RateVersionRow | undefined {
  const own = versions.filter((version) => version.card === card);
  return own[own.findIndex((version) => version.id === id) - 1];
}

function compared(older: string, newer: string): string {
  return `rates/compare${queryOf({ before: older, after: newer })}`;
}
