import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { EstimateAnswer, MessageDetail, SendAnswer } from '../../src/api.js';
import { money, moneyOfMessage } from '../app/amounts.js';
import { call } from '../app/api-client.js';
import { useChannel } from '../app/context.js';
import { fullTime } from '../app/format.js';
import { navigate } from '../app/router.js';
import { toast } from '../app/toasts.js';
import { useData } from '../app/use-data.js';
import { StatusBadge, words } from '../components/badge.js';
import { Copy, ErrorNotice, Facts, Notice } from '../components/basics.js';
import { FormDialog } from '../components/dialog.js';
import { Select, TextArea } from '../components/field.js';
import { newKey } from '../app/new-key.js';

const RESEND = 'resend';

/** Says what happened to the message and what a second one costs, before it is sent again or settled. */
export function ResendDialog(props: {
  message: MessageDetail;
  onSettled: () => void;
  onClose: () => void;
}): JSX.Element {
  const { message, onSettled, onClose } = props;
  const { id, canSettle, canResend } = message;
  const channel = useChannel(message.channel);
  const isUnknown = message.status === 'unknown';
  const ends = (channel?.statuses ?? []).filter(({ reported, terminal }) => reported && terminal);
  const [choice, setChoice] = useState(isUnknown ? '' : RESEND);
  const key = useMemo(newKey, []);
  const path = `api/messages/${encodeURIComponent(id)}/resend`;
  const estimate = useData<EstimateAnswer>(canResend ? path : undefined);
  const isDenied = (estimate.data?.denied.length ?? 0) > 0;

  const settle = async (values: FormData): Promise<void> => {
    await call('POST', `api/messages/${encodeURIComponent(id)}/settle`, {
      status: choice,
      note: values.get('note'),
    });
    toast(`Settled as ${words(choice)}`);
    onSettled();
  };
  const resend = async (): Promise<void> => {
    const { batchId, replayed } = await call<SendAnswer>('POST', path, { idempotencyKey: key });
    toast(replayed ? 'This was sent again already' : 'Sent again as a new message');
    navigate(`messages/${batchId}-0`);
  };
  return (
    <FormDialog
      title={isUnknown ? 'What became of this message?' : 'Send this message again?'}
      submit={choice === RESEND || choice === '' ? 'Send again' : `Settle as ${words(choice)}`}
      disabled={choice === '' || (choice === RESEND && isDenied)}
      onClose={onClose}
      action={choice === RESEND ? resend : settle}
    >
      <FirstMessage message={message} />
      {isUnknown && (
        <>
          <p>
            Compare with the provider’s own list, by recipient and time. Then settle the message as
            what you find there, or send it again.
          </p>
          <Select
            label="What you found"
            name="choice"
            required
            value={choice}
            options={[
              ['', 'Choose'],
              ...(canSettle
                ? ends.map(({ name }) => [name, `The provider has it: ${words(name)}`] as const)
                : []),
              ...(canResend
                ? [[RESEND, 'The provider does not have it: send again'] as const]
                : []),
            ]}
            hint={canSettle ? undefined : 'Settling needs the right to operate.'}
            onChange={(event) => setChoice(event.currentTarget.value)}
          />
          {choice !== '' && choice !== RESEND && (
            <TextArea
              label="Note"
              name="note"
              rows={2}
              maxLength={1000}
              hint="Such as where you found it. Optional."
            />
          )}
        </>
      )}
      {choice === RESEND && (
        <>
          <Second message={message} estimate={estimate.data} />
          <ErrorNotice error={estimate.error} retry={estimate.reload} />
        </>
      )}
    </FormDialog>
  );
}

function FirstMessage({ message }: { message: MessageDetail }): JSX.Element {
  const { channel, status, timeline, reason } = message;
  const last = timeline.findLast((entry) => entry.status === status);
  return (
    <Facts
      rows={[
        ['First message', <StatusBadge key="status" channel={channel} status={status} />],
        last !== undefined && ['What happened', reason ?? last.title],
        last !== undefined && ['When', fullTime(last.at)],
        ['Recipient', message.recipient],
        message.provider !== null && ['Provider', message.provider],
        message.sentAt !== null && ['Sent', fullTime(message.sentAt)],
        message.status === 'unknown' && [
          'Message id',
          <Copy key="id" value={message.id} label="message id" />,
        ],
        message.providerId !== null && [
          'Provider’s id',
          <Copy key="provider" value={message.providerId} label="provider’s id" />,
        ],
        ...moneyOfMessage(message).map(
          ([title, amount]) => [`${title} of the first`, amount] as const,
        ),
      ]}
    />
  );
}

/** What a second message does and costs. */
function Second(props: {
  message: MessageDetail;
  estimate: EstimateAnswer | undefined;
}): JSX.Element {
  const { message, estimate } = props;
  const own = useChannel(message.channel)?.statuses.find(({ name }) => name === message.status);
  return (
    <>
      <Facts
        rows={[
          [
            'Cost of the second',
            estimate === undefined
              ? '…'
              : estimate.totalCost === null
                ? 'not known: no rate'
                : `${money(estimate.totalCost)} ${estimate.currency ?? ''}`,
          ],
        ]}
      />
      {estimate?.denied.map(({ reason, title }) => (
        <Notice key={reason} tone="danger" title="A policy refuses the second message">
          {title}
        </Notice>
      ))}
      {!own?.failed && (
        <Notice tone="warning" title="The recipient may get it twice">
          {message.status === 'unknown'
            ? 'The provider may have the first one: its answer was lost.'
            : 'The first one did not fail.'}
        </Notice>
      )}
    </>
  );
}
