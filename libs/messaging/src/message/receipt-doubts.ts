type Place = Pick<ReceiptEvidence, 'provider' | 'channel' | 'country'>;

/** What second witnesses say of a provider's reports, of one channel and country. */
export interface ReceiptEvidence {
  readonly provider: string;
  readonly channel: string;
  /** ISO 3166 code; `''`: none, or not known. */
  readonly country: string;
  /** One-time codes of which no failure was reported, ten minutes old or more. */
  readonly codes: number;
  /** Those of them that were checked, rightly or not. */
  readonly checked: number;
  /** Messages that were reported as delivered. */
  readonly deliveries: number;
  /** Those of them that were reported within half a second. */
  readonly fast: number;
}

/** Puts the figures of both witnesses side by side. */
export function receiptEvidence(
  outcomes: readonly (Place & Pick<ReceiptEvidence, 'deliveries' | 'fast'>)[],
  codes: readonly (Place & Pick<ReceiptEvidence, 'codes' | 'checked'>)[],
): ReceiptEvidence[] {
  const found = new Map<string, ReceiptEvidence>();
  const none = { codes: 0, checked: 0, deliveries: 0, fast: 0 };
  for (const { provider, channel, country, deliveries, fast } of outcomes)
    found.set(JSON.stringify([provider, channel, country]), {
      ...none,
      provider,
      channel,
      country,
      deliveries,
      fast,
    });
  for (const { provider, channel, country, codes: all, checked } of codes) {
    const key = JSON.stringify([provider, channel, country]);
    const known = found.get(key) ?? { ...none, provider, channel, country };
    found.set(key, { ...known, codes: all, checked });
  }
  return [...found.values()];
}

/** Reports of a provider that a second witness contradicts. */
export interface ReceiptFinding {
  readonly provider: string;
  readonly channel: string;
  /** ISO 3166 code; `''`: none, or not known. */
  readonly country: string;
  /** `codes`: one-time codes that are not checked; `speed`: reports faster than a telephone answers. */
  readonly witness: 'codes' | 'speed';
  /** Of codes the share that was checked, of speed the share of fast reports; 0 to 1. */
  readonly share: number;
  /** The same of the other providers together; `null`: there is none to compare with. */
  readonly others: number | null;
  /** Messages that `share` is of. */
  readonly messages: number;
  /** The share of its deliveries that may not have arrived; 0 to 1. */
  readonly doubt: number;
  /** In words, without addresses. */
  readonly reason: string;
}

/** Fewest messages of a share. */
const LEAST = 50;

/** Standard errors between two shares: chance makes as much once in 3 million comparisons. */
const ERRORS = 5;

/** Of one channel and country a provider is doubted below this part of the others' checked share. */
const CHECKED_PART = 0.7;

/** Share of fast reports from which a provider is doubted. */
const FAST_SHARE = 0.2;

/** Channels whose messages cross a radio network: others may well arrive within half a second. */
const BY_RADIO = new Set(['sms']);

interface Share {
  readonly of: number;
  readonly all: number;
}

/** Compares the providers of each channel and country with each other, once for each witness. */
export function receiptFindings(evidence: readonly ReceiptEvidence[]): ReceiptFinding[] {
  return evidence.flatMap((own) => {
    const others = evidence.filter(
      ({ provider, channel, country }) =>
        provider !== own.provider && channel === own.channel && country === own.country,
    );
    return [codesOf(own, others) ?? [], speedOf(own, others) ?? []].flat();
  });
}

function codesOf(
  own: ReceiptEvidence,
  others: readonly ReceiptEvidence[],
): ReceiptFinding | undefined {
  const one = { of: own.checked, all: own.codes };
  const rest = sumOf(others, ({ checked, codes }) => ({ of: checked, all: codes }));
  if (one.all < LEAST || rest.all < LEAST) return undefined;
  const [share, usual] = [shareOf(one), shareOf(rest)];
  if (share >= usual * CHECKED_PART || !isFarApart(one, rest)) return undefined;
  return {
    ...placeOf(own),
    witness: 'codes',
    share,
    others: usual,
    messages: one.all,
    doubt: 1 - share / usual,
    reason: `${percent(share)} of ${one.all} one-time codes were checked, of the other providers ${percent(usual)}`,
  };
}

function speedOf(
  own: ReceiptEvidence,
  others: readonly ReceiptEvidence[],
): ReceiptFinding | undefined {
  const one = { of: own.fast, all: own.deliveries };
  const rest = sumOf(others, ({ fast, deliveries }) => ({ of: fast, all: deliveries }));
  if (!BY_RADIO.has(own.channel) || one.all < LEAST) return undefined;
  const share = shareOf(one);
  const isCompared = rest.all >= LEAST;
  if (share < FAST_SHARE || (isCompared && !isFarApart(one, rest))) return undefined;
  if (isCompared && share < shareOf(rest)) return undefined;
  return {
    ...placeOf(own),
    witness: 'speed',
    share,
    others: isCompared ? shareOf(rest) : null,
    messages: one.all,
    doubt: share,
    reason: `${percent(share)} of ${one.all} deliveries were reported within half a second`,
  };
}

function placeOf({ provider, channel, country }: ReceiptEvidence): Place {
  return { provider, channel, country };
}

function sumOf(
  others: readonly ReceiptEvidence[],
  of: (evidence: ReceiptEvidence) => Share,
): Share {
  const shares = others.map(of);
  return {
    of: shares.reduce((sum, share) => sum + share.of, 0),
    all: shares.reduce((sum, share) => sum + share.all, 0),
  };
}

function shareOf({ of, all }: Share): number {
  return all > 0 ? of / all : 0;
}

/** By the pooled share, as if both were samples of one provider. */
function isFarApart(one: Share, other: Share): boolean {
  const pooled = (one.of + other.of) / (one.all + other.all);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / one.all + 1 / other.all));
  return Math.abs(shareOf(one) - shareOf(other)) > ERRORS * error;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
