import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../app/api-client.js';
import { fullTime, relativeTime, shortTime } from '../app/format.js';
import { toast } from '../app/toasts.js';
import { Icon, type IconName } from './icon.js';

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon'> & {
  kind?: 'primary' | 'danger' | 'plain' | 'quiet';
  icon?: IconName;
  busy?: boolean;
  /** Only the icon is drawn; the children are its name for screen readers. */
  iconOnly?: boolean;
};

export function Button(props: ButtonProps): JSX.Element {
  const { kind = 'plain', icon, busy, iconOnly, children, type = 'button', ...rest } = props;
  return (
    <button
      {...rest}
      type={type}
      class={`button ${kind}${iconOnly ? ' icon-only' : ''}`}
      aria-busy={busy ? 'true' : undefined}
      disabled={busy || rest.disabled}
    >
      {icon && <Icon name={icon} />}
      {iconOnly ? <span class="hidden">{children}</span> : children}
    </button>
  );
}

export function PageHeader(props: {
  title: string;
  description?: ComponentChildren;
  back?: { to: string; label: string };
  badge?: ComponentChildren;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <header class="page-header">
      <div>
        {props.back && (
          <a class="back" href={props.back.to}>
            <Icon name="arrowLeft" />
            {props.back.label}
          </a>
        )}
        <h1 tabIndex={-1}>
          {props.title} {props.badge}
        </h1>
        {props.description && <p class="muted">{props.description}</p>}
      </div>
      {props.children && <div class="actions">{props.children}</div>}
    </header>
  );
}

export function Card(props: {
  title?: string;
  description?: ComponentChildren;
  actions?: ComponentChildren;
  /** The content touches the edges, such as a table's. */
  flush?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class={`card${props.flush ? ' flush' : ''}`}>
      {props.title && (
        <header class="card-header">
          <div>
            <h2>{props.title}</h2>
            {props.description && <p class="muted">{props.description}</p>}
          </div>
          {props.actions && <div class="actions">{props.actions}</div>}
        </header>
      )}
      {props.children}
    </section>
  );
}

/** Says that a list is empty, and the next step. */
export function Empty(props: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={props.icon} />
      </span>
      <p class="empty-title">{props.title}</p>
      {props.children && <p class="muted">{props.children}</p>}
      {props.action && <div class="actions">{props.action}</div>}
    </div>
  );
}

export function Notice(props: {
  tone?: 'info' | 'warning' | 'danger' | 'success';
  title?: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}): JSX.Element {
  const tone = props.tone ?? 'info';
  const icon: IconName = tone === 'success' ? 'check' : tone === 'info' ? 'message' : 'alert';
  return (
    <div class={`notice ${tone}`} role={tone === 'danger' ? 'alert' : 'status'}>
      <Icon name={icon} />
      <div>
        {props.title && <strong>{props.title}</strong>}
        {props.children && <div>{props.children}</div>}
      </div>
      {props.action}
    </div>
  );
}

/** Why a page or an action failed, with a way to try again where there is one. */
export function ErrorNotice(props: {
  error: ApiError | undefined;
  retry?: () => unknown;
}): JSX.Element | null {
  if (!props.error) return null;
  return (
    <Notice
      tone="danger"
      action={
        props.retry && (
          <Button icon="refresh" onClick={() => void props.retry?.()}>
            Try again
          </Button>
        )
      }
    >
      {props.error.message}
      {props.error.requestId && (
        <div class="small">
          Request id <code>{props.error.requestId}</code>
        </div>
      )}
    </Notice>
  );
}

/** Grey lines while the first answer is loading. */
export function Skeleton({ lines = 5 }: { lines?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} aria-hidden="true" />
      ))}
    </div>
  );
}

/** Draws again every half minute, so that “4 min ago” stays true. */
function useNow(every = 30_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

export function Time(props: {
  at: string | null | undefined;
  /** A point in time, for sentences with “since” or “until”. */
  exact?: boolean;
}): JSX.Element {
  const now = useNow();
  const { at, exact } = props;
  if (!at) return <span class="muted">–</span>;
  return (
    <time dateTime={at} title={fullTime(at)}>
      {exact ? shortTime(at) : relativeTime(at, now)}
    </time>
  );
}

/** The time until `at` as `23:04:10`, second by second. */
export function Countdown({ until }: { until: string }): JSX.Element {
  const now = useNow(1000);
  const left = Math.max(0, Math.round((new Date(until).getTime() - now) / 1000));
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return (
    <time dateTime={until} title={fullTime(until)} class="countdown">
      {two(left / 3600)}:{two((left / 60) % 60)}:{two(left % 60)}
    </time>
  );
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied');
  } catch {
    toast('The browser did not allow copying. Select the text instead.', 'danger');
  }
}

/** A value in fixed-width type with a button that copies it. */
export function Copy(props: { value: string; label: string; shown?: string }): JSX.Element {
  return (
    <span class="copy">
      <code>{props.shown ?? props.value}</code>
      <Button kind="quiet" icon="copy" iconOnly onClick={() => void copyText(props.value)}>
        Copy {props.label}
      </Button>
    </span>
  );
}

/** Text of several lines, such as a command, with a button that copies it. */
export function CodeBlock(props: { code: string; label: string }): JSX.Element {
  return (
    <div class="code-block">
      <pre tabIndex={0} aria-label={props.label}>
        <code>{props.code}</code>
      </pre>
      <Button kind="plain" icon="copy" onClick={() => void copyText(props.code)}>
        Copy
      </Button>
    </div>
  );
}

/** Names and values, one beside the other. */
export function Facts(props: {
  rows: readonly (readonly [string, ComponentChildren] | false | undefined)[];
}): JSX.Element {
  return (
    <dl class="facts">
      {props.rows.map(
        (row) =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1] ?? '–'}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
