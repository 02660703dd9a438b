import type { RecentOutcomes } from '../message/outcomes.js';
import type { BestSettings } from '../ports/best-options.js';

/** Where a provider has reported no delivery, messages without a report count as failed after so long. */
const PATIENCE = 10 * 60_000;

/** Times `minSamples`: the newest messages by which a provider is judged. */
const NEWEST = 5;

/** Minutes of p95 that count. */
const SLOWEST = 10;

/** Of a provider to one country. */
export interface RouteFigures {
  /** Messages whose end is known, or that should have been reported. */
  readonly samples: number;
  readonly delivered: number;
  /** Milliseconds. */
  readonly p95: number | null;
  /** The share of its deliveries that may not have arrived; 0 to 1. */
  readonly doubt: number;
}

/**
 * The figures by the newest messages. One that has no report counts as not delivered once it is older
 * than the time in which 95 of 100 deliveries of its provider are reported; the others are still open.
 * @param now epoch milliseconds
 * @param doubt the share of its deliveries that a second witness contradicts
 */
export function figuresOf(
  { p95, spans }: Pick<RecentOutcomes, 'p95' | 'spans'>,
  minSamples: number,
  now: number,
  doubt: number,
): RouteFigures {
  const edge = now - (p95 ?? PATIENCE);
  let [samples, delivered] = [0, 0];
  for (const span of spans) {
    const end = Math.min(span.end, now);
    const length = Math.max(1, end - span.start);
    const young = Math.min(1, Math.max(0, end - Math.max(span.start, edge)) / length);
    // As if the messages of a span came evenly; the open ones are the youngest.
    const all = span.delivered + span.failed + span.open;
    const overdue = Math.max(0, span.open - Math.ceil(all * young));
    samples += span.delivered + span.failed + overdue;
    delivered += span.delivered;
    if (samples >= NEWEST * minSamples) break;
  }
  return { samples, delivered, p95, doubt };
}

function shareOf({ samples, delivered }: RouteFigures): number {
  return samples > 0 ? delivered / samples : 0;
}

/** The delivered share, less its doubted part, and what the time until deliveries takes from it. */
export function scoreOf(figures: RouteFigures, { latency }: Pick<BestSettings, 'latency'>): number {
  const minutes = Math.min(SLOWEST, (figures.p95 ?? 0) / 60_000);
  return shareOf(figures) * (1 - figures.doubt) - latency * minutes;
}

/**
 * Whether `other` is to lead instead: its score is higher by the margin, and by twice the standard error
 * of the difference, so that chance alone rarely changes the leader.
 */
export function isBetter(
  other: RouteFigures,
  leader: RouteFigures,
  settings: Pick<BestSettings, 'latency' | 'margin'>,
): boolean {
  const gap = scoreOf(other, settings) - scoreOf(leader, settings);
  const error = Math.sqrt(varianceOf(other) + varianceOf(leader));
  return gap > settings.margin && gap > 2 * error;
}

/** Of the delivered share; with two more messages, as no share of a few is certain. */
function varianceOf({ samples, delivered }: RouteFigures): number {
  const share = (delivered + 1) / (samples + 2);
  return (share * (1 - share)) / (samples + 2);
}

/** `b: 97.1 % of 1,204 delivered in 4 s`. */
export function wordsOf(name: string, figures: RouteFigures): string {
  const share = (shareOf(figures) * 100).toFixed(1);
  const time = figures.p95 === null ? '' : ` in ${secondsOf(figures.p95)} s`;
  const count = Math.round(figures.samples).toLocaleString('en-US');
  const doubt = figures.doubt > 0 ? `, ${(figures.doubt * 100).toFixed(1)} % doubted` : '';
  return `${name}: ${share} % of ${count} delivered${time}${doubt}`;
}

function secondsOf(milliseconds: number): string {
  return milliseconds < 10_000
    ? String(Math.round(milliseconds / 100) / 10)
    : Math.round(milliseconds / 1_000).toLocaleString('en-US');
}
