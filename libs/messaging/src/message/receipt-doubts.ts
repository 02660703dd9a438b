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
  /** Messages to test phones that were reported as delivered; absent: none. */
  readonly reported?: number;
  /** Those of them that the phones have got. */
  readonly seen?: number;
}

/** What test phones of the app's own have got of the messages that a provider reported as delivered. */
export interface WitnessedReceipts {
  readonly provider: string;
  readonly channel: string;
  /** ISO 3166 code. */
  readonly country: string;
  /** Messages that were reported as delivered, and that the phones had time to get. */
  readonly reported: number;
  /** Those of them that the phones have got. */
  readonly seen: number;
}

/** Puts the figures of all witnesses side by side. */
export function receiptEvidence(
  outcomes: readonly (Place & Pick<ReceiptEvidence, 'deliveries' | 'fast'>)[],
  codes: readonly (Place & Pick<ReceiptEvidence, 'codes' | 'checked'>)[],
  witnessed: readonly WitnessedReceipts[] = [],
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
  for (const { provider, channel, country, reported, seen } of witnessed) {
    const key = JSON.stringify([provider, channel, country]);
    const known = found.get(key) ?? { ...none, provider, channel, country };
    found.set(key, { ...known, reported, seen });
  }
  return [...found.values()];
}

/** Reports of a provider that a second witness contradicts. */
export interface ReceiptFinding {
  readonly provider: string;
  readonly channel: string;
  /** ISO 3166 code; `''`: none, or not known. */
  readonly country: string;
  /**
   * `codes`: one-time codes that are not checked; `speed`: reports faster than a telephone answers;
   * `phones`: messages to test phones that these did not get.
   */
  readonly witness: 'codes' | 'speed' | 'phones';
  /** Of codes the share that was checked, of speed the share of fast reports, of phones what they got; 0 to 1. */
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
    return [
      codesOf(own, others) ?? [],
      speedOf(own, others) ?? [],
      phonesOf(own, others) ?? [],
    ].flat();
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

/** Each message to a test phone that is missing counts, as the phone is known to be there. */
function phonesOf(
  own: ReceiptEvidence,
  others: readonly ReceiptEvidence[],
): ReceiptFinding | undefined {
  const { reported: all = 0, seen = 0 } = own;
  if (seen >= all) return undefined;
  const rest = sumOf(others, (one) => ({ of: one.seen ?? 0, all: one.reported ?? 0 }));
  return {
    ...placeOf(own),
    witness: 'phones',
    share: shareOf({ of: seen, all }),
    // Where no provider reaches the phones they may be switched off.
    others: rest.of > 0 ? shareOf(rest) : null,
    messages: all,
    doubt: leastShare(all - seen, all),
    reason: `test phones got ${seen} of ${all} messages that were reported as delivered`,
  };
}

/** Standard errors of the bound of {@link leastShare}: it is wrong once in forty. */
const BOUND = 1.96;

/** The lower bound of a share by Wilson: of one message a fifth, of ten nearly three quarters. */
function leastShare(of: number, all: number): number {
  const share = of / all;
  const square = BOUND ** 2;
  const middle = share + square / (2 * all);
  const width = BOUND * Math.sqrt((share * (1 - share) + square / (4 * all)) / all);
  return Math.max(0, (middle - width) / (1 + square / all));
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
