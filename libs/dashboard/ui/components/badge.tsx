import type { ComponentChildren, JSX } from 'preact';
import type { CodeStatus } from '../../src/api.js';
import { useContextData } from '../app/context.js';

export type Tone = 'neutral' | 'info' | 'success' | 'warning' | 'danger';

export function Badge(props: { tone?: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`badge ${props.tone ?? 'neutral'}`}>{props.children}</span>;
}

/** A name of the API in words: `opted_out` is `opted out`. */
export const words = (name: string): string => name.replaceAll(/[_-]/g, ' ');

/** A kind of content in words: `vas.airtime` is `airtime`. */
export const kindWords = (kind: string): string => words(kind.slice(kind.lastIndexOf('.') + 1));

/** The tone of a status, from the channel's own list of statuses. */
export function useTone(channel: string | undefined): (status: string) => Tone {
  const { channels } = useContextData();
  return (status) => {
    const known = channels
      .filter(({ name }) => channel === undefined || name === channel)
      .flatMap(({ statuses }) => statuses)
      .find(({ name }) => name === status);
    if (!known) return 'neutral';
    // A cancelled message counts as failed, but a person asked for the cancel.
    if (status === 'cancelled') return 'neutral';
    if (known.failed) return 'danger';
    if (status === 'unknown' || status === 'complained') return 'warning';
    if (known.terminal) return 'success';
    return status === 'queued' ? 'neutral' : 'info';
  };
}

export function StatusBadge(props: { channel?: string; status: string }): JSX.Element {
  const tone = useTone(props.channel);
  return <Badge tone={tone(props.status)}>{words(props.status)}</Badge>;
}

const CODE_TONES: Readonly<Record<CodeStatus, Tone>> = {
  pending: 'info',
  verified: 'success',
  expired: 'neutral',
  exhausted: 'warning',
};

/** State of the one-time code of a message. */
export function CodeBadge({ code }: { code: CodeStatus }): JSX.Element {
  return <Badge tone={CODE_TONES[code]}>{code}</Badge>;
}

const BATCH_TONES: Readonly<Record<string, Tone>> = {
  scheduled: 'info',
  sending: 'info',
  completed: 'success',
};

export function BatchBadge({ status }: { status: string }): JSX.Element {
  return <Badge tone={BATCH_TONES[status] ?? 'neutral'}>{status}</Badge>;
}

export function useChannelTitle(): (channel: string) => string {
  const { channels } = useContextData();
  return (channel) => channels.find(({ name }) => name === channel)?.title ?? channel;
}

export function ChannelName({ channel }: { channel: string }): JSX.Element {
  return <>{useChannelTitle()(channel)}</>;
}
