import type { JSX } from 'preact';
import { call } from '../app/api-client.js';
import { useChannel } from '../app/context.js';
import { toast } from '../app/toasts.js';
import { useAction } from '../app/use-data.js';
import { StatusBadge, words } from '../components/badge.js';
import { Button, ErrorNotice } from '../components/basics.js';

/** Buttons that choose the simulated network's next report of a message. */
export function ReportButtons(props: {
  channel: string;
  message: { readonly id: string; readonly status: string | null };
}): JSX.Element | null {
  const { message } = props;
  const channel = useChannel(props.channel);
  const report = useAction(async (status: string) => {
    await call('POST', 'api/phones/report', { messageId: message.id, status });
    toast(`The network reports: ${words(status)}`);
  });
  if (!channel) return null;
  const reports = [
    ...channel.statuses.filter(({ reported }) => reported).map(({ name }) => name),
    ...channel.events,
  ];
  return (
    <fieldset class="report-buttons">
      <legend>
        Status of the message{' '}
        {message.status && <StatusBadge channel={props.channel} status={message.status} />}
      </legend>
      <div class="chips">
        {reports.map((status) => (
          <Button key={status} onClick={() => void report.run(status)} disabled={report.busy}>
            {words(status)}
          </Button>
        ))}
        <a class="button quiet" href={`messages/${message.id}`}>
          Timeline
        </a>
      </div>
      <ErrorNotice error={report.error} />
    </fieldset>
  );
}
