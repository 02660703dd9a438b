import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { compactNumber } from '../app/format.js';
import type { Tone } from './badge.js';
import { Table } from './table.js';

export interface ChartSeries {
  readonly title: string;
  readonly tone: Tone;
}

export interface ChartPoint {
  /** Short, below the axis. */
  readonly label: string;
  /** Whole, in the table and beside the pointer. */
  readonly title: string;
  /** One for each series. */
  readonly values: readonly number[];
  /** Of the line over the columns; without it the line goes on to the next point. */
  readonly line?: number | undefined;
}

const HEIGHT = 200;
const LEFT = 40;
const BOTTOM = 24;
const TOP = 8;

/** Columns of stacked values over time, with the same numbers as a table. */
export function Chart(props: {
  title: string;
  series: readonly ChartSeries[];
  points: readonly ChartPoint[];
  /** Title of a pale line over the columns, such as the former period. @default none */
  line?: string;
  format?: (value: number) => string;
  /** Least top of the axis. */
  least?: number;
  /** Called with the first and last point that a person draws over. @default nothing can be drawn */
  onRange?: (from: number, to: number) => void;
}): JSX.Element {
  const { points, series, line, onRange } = props;
  const format = props.format ?? compactNumber;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [at, setAt] = useState<number>();
  const [start, setStart] = useState<number>();
  const total = (point: ChartPoint): number => point.values.reduce((sum, value) => sum + value, 0);
  const lineOf = ({ line: value }: ChartPoint): string =>
    value === undefined ? '–' : format(value);
  const top = niceTop(
    Math.max(props.least ?? 4, ...points.map((one) => Math.max(total(one), one.line ?? 0))),
  );
  const inner = HEIGHT - BOTTOM - TOP;
  const step = (width - LEFT) / Math.max(1, points.length);
  const y = (value: number): number => TOP + inner * (1 - value / top);
  const every = Math.max(1, Math.ceil(64 / step));
  const shown = at === undefined ? undefined : points[at];

  const placeOf = (event: PointerEvent): number | undefined => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect();
    const index = Math.floor((event.clientX - left - LEFT) / step);
    return index >= 0 && index < points.length ? index : undefined;
  };
  const draw = onRange && {
    onPointerDown: (event: PointerEvent) => {
      const index = placeOf(event);
      if (event.button !== 0 || index === undefined) return;
      event.preventDefault();
      setStart(index);
    },
    onPointerUp: (event: PointerEvent) => {
      const end = placeOf(event) ?? at;
      setStart(undefined);
      if (start !== undefined && end !== undefined)
        onRange(Math.min(start, end), Math.max(start, end));
    },
  };
  const leave = (): void => {
    setAt(undefined);
    setStart(undefined);
  };
  const drawn =
    start === undefined || at === undefined ? undefined : [start, at].toSorted((a, b) => a - b);

  return (
    <figure class="chart">
      <ul class="legend">
        {series.map(({ title, tone }) => (
          <li key={title} class={tone}>
            {title}
          </li>
        ))}
        {line && <li class="line">{line}</li>}
      </ul>
      <div
        class={`plot${onRange ? ' brushed' : ''}`}
        ref={box}
        onPointerMove={(event) => setAt(placeOf(event))}
        onPointerLeave={leave}
        {...draw}
      >
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${props.title}. A table follows.`}
        >
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <g key={part}>
              <line class="grid" x1={LEFT} x2={width} y1={y(top * part)} y2={y(top * part)} />
              <text class="axis" x={LEFT - 8} y={y(top * part) + 4} text-anchor="end">
                {format(top * part)}
              </text>
            </g>
          ))}
          {drawn && (
            <rect
              class="brush"
              x={LEFT + (drawn[0] ?? 0) * step}
              y={TOP}
              width={((drawn[1] ?? 0) - (drawn[0] ?? 0) + 1) * step}
              height={inner}
            />
          )}
          {points.map((point, index) => {
            let below = 0;
            const x = LEFT + index * step;
            return (
              <g key={point.title} class={index === at ? 'current' : undefined}>
                {point.values.map((value, place) => {
                  const from = y(below);
                  below += value;
                  const height = from - y(below);
                  if (height <= 0) return null;
                  const gap = Math.min(3, step * 0.15);
                  return (
                    <rect
                      key={place}
                      class={series[place]?.tone}
                      x={x + gap}
                      y={y(below)}
                      width={Math.max(1, step - 2 * gap)}
                      height={Math.max(1, height)}
                    />
                  );
                })}
                {index % every === 0 && x + 30 < width && (
                  <text class="axis" x={x + step / 2} y={HEIGHT - 6} text-anchor="middle">
                    {point.label}
                  </text>
                )}
              </g>
            );
          })}
          {line && (
            <polyline
              class="line"
              points={points
                .flatMap(({ line: at }, index) =>
                  at === undefined ? [] : [`${LEFT + (index + 0.5) * step},${y(at)}`],
                )
                .join(' ')}
            />
          )}
        </svg>
        {shown && at !== undefined && (
          <div
            class={`tip${at > points.length / 2 ? ' left' : ''}`}
            style={{ insetInlineStart: `${LEFT + (at + 0.5) * step}px` }}
            aria-hidden="true"
          >
            <strong>{shown.title}</strong>
            {series.map(({ title, tone }, place) => (
              <span key={title} class={tone}>
                {title} <b>{format(shown.values[place] ?? 0)}</b>
              </span>
            ))}
            {line && (
              <span class="line">
                {line} <b>{lineOf(shown)}</b>
              </span>
            )}
          </div>
        )}
      </div>
      <details>
        <summary>Show as a table</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={`${props.title}, numbers`}>
          <Table
            label={props.title}
            id={({ title }) => title}
            rows={points.toReversed()}
            columns={[
              { title: 'From', cell: ({ title }) => title },
              ...series.map(({ title }, place) => ({
                title,
                number: true,
                cell: ({ values }: ChartPoint) => format(values[place] ?? 0),
              })),
              ...(line
                ? [
                    {
                      title: line,
                      number: true,
                      cell: lineOf,
                    },
                  ]
                : []),
            ]}
          />
        </div>
      </details>
    </figure>
  );
}

/** The next of 4, 8, 12, 20, 40, 80, 100, … that is not below the value: its quarters are whole. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const tops = [1, 1.2, 2, 4, 8, 10, 12].map((step) => step * power);
  return tops.find((top) => top >= value && top % 4 === 0) ?? value;
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(240, Math.floor(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

/** A part of a whole as a bar, with its words for screen readers. */
export function Progress(props: {
  label: string;
  parts: readonly { readonly tone: Tone; readonly value: number; readonly title: string }[];
  whole: number;
}): JSX.Element {
  const text = props.parts
    .filter(({ value }) => value > 0)
    .map(({ title, value }) => `${value} ${title}`)
    .join(', ');
  return (
    <div class="progress" role="img" aria-label={`${props.label}: ${text || 'nothing yet'}`}>
      {props.parts.map(({ tone, value, title }) => (
        <span
          key={title}
          class={tone}
          style={{ inlineSize: `${props.whole ? (100 * value) / props.whole : 0}%` }}
        />
      ))}
    </div>
  );
}
