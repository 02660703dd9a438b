import type { JSX } from 'preact';
import type { TimelineEntry } from '../../src/api.js';
import { duration, fullTime, textOrTime } from '../app/format.js';
import { StatusBadge, type Tone, useTone } from './badge.js';
import { Icon, type IconName } from './icon.js';

const ICONS: Readonly<Record<TimelineEntry['kind'], IconName>> = {
  accepted: 'check',
  scheduled: 'clock',
  attempt: 'send',
  outcome: 'tower',
  report: 'reply',
  event: 'message',
  waiting: 'pause',
};

/** The way of a message in words, oldest first. */
export function Timeline(props: {
  channel: string;
  entries: readonly TimelineEntry[];
}): JSX.Element {
  const toneOf = useTone(props.channel);
  const tone = ({ status, kind, remedy }: TimelineEntry): Tone =>
    status ? toneOf(status) : kind === 'waiting' || remedy ? 'warning' : 'neutral';
  return (
    <ol class="timeline">
      {props.entries.map((entry, index) => (
        <li key={index} class={tone(entry)}>
          <span class="timeline-icon">
            <Icon name={ICONS[entry.kind]} />
          </span>
          <div>
            <p class="timeline-title">
              <strong>{entry.title}</strong>
              {entry.status && <StatusBadge channel={props.channel} status={entry.status} />}
            </p>
            {entry.detail && <p>{textOrTime(entry.detail)}</p>}
            {entry.answer && (
              <p class="answer">
                <span class="muted">Answer:</span> <q>{entry.answer}</q>
              </p>
            )}
            {entry.remedy && (
              <p class="remedy">
                <strong>What to do:</strong> {entry.remedy}
              </p>
            )}
            <p class="muted small">
              <time dateTime={entry.at}>{fullTime(entry.at)}</time>
              <Gap from={props.entries[index - 1]} to={entry} />
              {entry.provider && ` · ${entry.provider}`}
              {entry.code && (
                <>
                  {' · '}
                  <code>{entry.code}</code>
                </>
              )}
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Time since the step before. */
function Gap(props: { from: TimelineEntry | undefined; to: TimelineEntry }): JSX.Element | null {
  if (!props.from || props.to.kind === 'scheduled') return null;
  const milliseconds = Date.parse(props.to.at) - Date.parse(props.from.at);
  return (
    <span class="gap">
      <span aria-hidden="true">+{duration(milliseconds)}</span>
      <span class="hidden">{duration(milliseconds)} after the step before</span>
    </span>
  );
}
