import type { Route } from './router.js';

/** Values of the address that the API takes under the same name. */
const SAME = [
  'tenant',
  'channel',
  'status',
  'from',
  'tag',
  'provider',
  'error',
  'country',
] as const;

const DAY = 86_400_000;

export const AGES: Readonly<Record<string, { readonly title: string; readonly ms: number }>> = {
  '1h': { title: 'Last hour', ms: DAY / 24 },
  '24h': { title: 'Last 24 hours', ms: DAY },
  '7d': { title: 'Last 7 days', ms: 7 * DAY },
  '30d': { title: 'Last 30 days', ms: 30 * DAY },
};

/** No time was chosen, and a search by parts looks at all times, too. */
export const ALL_TIMES = 'all';

/** What the search of the address is compared with. @default a whole number, an address or an id */
export type SearchKind = 'whole' | 'part' | 'subject';

export type MessageFilter = Readonly<Record<string, string | undefined>>;

export interface AskedMessages {
  /** As `api/messages` takes it. */
  readonly filter: MessageFilter;
  readonly kind: SearchKind;
  /** A search by parts looks at the last 7 days, because no time was chosen. */
  readonly isNarrowed: boolean;
}

/** The filter of the address of a list of messages. */
export function askedMessages({ query }: Pick<Route, 'query'>, now = Date.now()): AskedMessages {
  const search = query.get('q')?.trim() ?? '';
  const kind = kindOf(query.get('in'), search);
  const age = query.get('age') ?? '';
  const [since, until] = [query.get('since'), query.get('until')];
  const isNarrowed = search !== '' && kind !== 'whole' && !since && !until && !age;
  const span = isNarrowed ? AGES['7d'] : AGES[age];
  const values = Object.fromEntries(SAME.map((name) => [name, query.get(name) ?? undefined]));
  return {
    kind,
    isNarrowed,
    filter: {
      ...values,
      // To the minute, so that the address of the request stays the same between two live reads.
      since: span
        ? new Date(Math.floor(now / 60_000) * 60_000 - span.ms).toISOString()
        : (since ?? undefined),
      until: span ? undefined : (until ?? undefined),
      ...(search === '' ? {} : searched(kind, search)),
    },
  };
}

function kindOf(chosen: string | null, search: string): SearchKind {
  if (chosen === 'part' || chosen === 'subject') return chosen;
  return /^\d{3,6}$/.test(search) ? 'part' : 'whole';
}

function searched(kind: SearchKind, search: string): MessageFilter {
  if (kind === 'subject') return { subject: search };
  if (kind === 'part') return { toPart: search.replaceAll(/[\s().+-]/g, '') };
  return isAddress(search) ? { to: search } : { reference: search };
}

/** A number or an e-mail address; all else is an id. */
const isAddress = (text: string): boolean =>
  /^\+?[\d\s().-]{6,20}$/.test(text) || text.includes('@');
