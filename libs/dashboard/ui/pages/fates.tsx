import type { JSX } from 'preact';
import { call } from '../app/api-client.js';
import { useChannel } from '../app/context.js';
import { toast } from '../app/toasts.js';
import { useAction } from '../app/use-data.js';
import { StatusBadge, words } from '../components/badge.js';
import { Button, ErrorNotice } from '../components/basics.js';

/** Buttons that choose the simulated network's next report of a message. */
export function Fates(props: {
  channel: string;
  message: { readonly id: string; readonly status: string | null };
}): JSX.Element | null {
  const { message } = props;
  const channel = useChannel(props.channel);
  const decide = useAction(async (fate: string) => {
    await call('POST', 'api/phones/fate', { messageId: message.id, fate });
    toast(`The network reports: ${words(fate)}`);
  });
  if (!channel) return null;
  const fates = [
    ...channel.statuses.filter(({ reported }) => reported).map(({ name }) => name),
    ...channel.events,
  ];
  return (
    <fieldset class="fates">
      <legend>
        Fate of the message{' '}
        {message.status && <StatusBadge channel={props.channel} status={message.status} />}
      </legend>
      <div class="chips">
        {fates.map((fate) => (
          <Button key={fate} onClick={() => void decide.run(fate)} disabled={decide.busy}>
            {words(fate)}
          </Button>
        ))}
        <a class="button quiet" href={`messages/${message.id}`}>
          Timeline
        </a>
      </div>
      <ErrorNotice error={decide.error} />
    </fieldset>
  );
}
