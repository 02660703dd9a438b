import type { JSX } from 'preact';
import { useContextData } from '../app/context.js';
import { setQuery } from '../app/router.js';
import { Filter } from './field.js';

/** Chooses the channel of the address; empty for all. */
export function ChannelFilter({ channel }: { channel: string }): JSX.Element {
  const { channels } = useContextData();
  return (
    <Filter
      label="Channel"
      value={channel}
      all="All channels"
      options={channels.map(({ name, title }) => [name, title])}
      onChange={(chosen) => setQuery({ channel: chosen })}
    />
  );
}
