import type { Dialect } from '../database/dialect.js';
import { LATENCY_BOUNDS } from '../rows/latency.js';

/** Microseconds. */
export const FIVE_MINUTES = 300_000_000;
export const HOUR = 3_600_000_000;

/** Which of the histograms a change is counted in. */
export const LATENCY = { none: 0, sent: 1, delivered: 2 } as const;

/** SQL of a time rounded down. */
export function floored(time: string, to: number): string {
  return `${time} - ${time} % ${to}`;
}

/** SQL: when a message of the batch `b` was due; it no longer changes once the batch has started. */
export function dueTime(dialect: Dialect): string {
  return dialect.greatest('b.created_at', 'coalesce(b.send_at, 0)');
}

/**
 * SQL: tag and category of the batch `b` with its first label `l`. The content of a one-time code is
 * erased while its reports still come: it has the same two values before and after.
 */
export function labelsOf(dialect: Dialect): { readonly tag: string; readonly category: string } {
  const isCode = `(b.content IS NULL OR ${dialect.jsonText('b.content', 'secret')} IS NOT NULL)`;
  const kind = dialect.jsonText('b.content', 'kind');
  const template = `CASE WHEN (${kind}) = 'template' THEN ${dialect.jsonText('b.content', 'template')} END`;
  return {
    tag: `CASE WHEN ${isCode} THEN '' ELSE substr(coalesce(${template}, l.tag, ''), 1, 64) END`,
    category: `CASE WHEN ${isCode} THEN 'authentication'
      ELSE substr(coalesce(${dialect.jsonText('b.content', 'category')}, ''), 1, 32) END`,
  };
}

/** SQL: for each class of the histograms, by its name. */
export function histogramsBy(
  column: (latency: number, span: number, name: string) => string,
): string {
  return (['sent', 'delivered'] as const)
    .flatMap((name) =>
      Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, span) =>
        column(LATENCY[name], span, `${name}_${span}`),
      ),
    )
    .join(', ');
}

/** SQL: the histograms of rows with a `latency` kind and its class `span`. */
export function histograms(): string {
  return histogramsBy(
    (latency, span, name) =>
      `sum(CASE WHEN latency = ${latency} AND span = ${span} THEN 1 ELSE 0 END) AS ${name}`,
  );
}
