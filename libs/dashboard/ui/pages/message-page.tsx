import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { MessageDetail, RevealAnswer } from '../../src/api.js';
import { moneyOfMessage } from '../app/amounts.js';
import { call } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import { fullTime, textOrTime, valueWords } from '../app/format.js';
import { useProduct } from '../app/product.js';
import { useAction, useData } from '../app/use-data.js';
import { ChannelName, CodeBadge, kindWords, StatusBadge, words } from '../components/badge.js';
import {
  Button,
  Card,
  Copy,
  ErrorNotice,
  Facts,
  Notice,
  PageHeader,
  Skeleton,
} from '../components/basics.js';
import { CurlButton } from '../components/curl.js';
import { lazily } from '../components/lazily.js';
import { useTenantFact } from '../components/tenant-filter.js';
import { Timeline } from '../components/timeline.js';
import type { Email } from './email-view.js';
import { ResendDialog } from './resend-dialog.js';

const EmailView = lazily(async () => (await import('./email-view.js')).EmailView);

export function MessagePage({ id }: { id: string }): JSX.Element {
  const { data, error, loading, reload } = useData<MessageDetail>(
    `api/messages/${encodeURIComponent(id)}`,
    true,
  );
  const back = { to: 'messages', label: 'Back to the list' };
  if (!data) {
    return (
      <>
        <PageHeader title="Message" back={back} />
        {loading && <Skeleton lines={8} />}
        <ErrorNotice error={error} retry={reload} />
      </>
    );
  }
  return <Message message={data} back={back} onSettled={() => void reload()} />;
}

function Message(props: {
  message: MessageDetail;
  back: { to: string; label: string };
  onSettled: () => void;
}): JSX.Element {
  const { message } = props;
  const { reveal } = useContextData();
  const product = useProduct();
  const [revealed, setRevealed] = useState<RevealAnswer>();
  useEffect(() => setRevealed(undefined), [message.id]);
  const remedy = message.timeline.findLast(({ code }) => code === message.errorCode)?.remedy;
  const show = useAction(async () => {
    setRevealed(await call<RevealAnswer>('POST', `api/messages/${message.id}/reveal`));
  });
  // An e-mail needs the whole width.
  const email =
    !message.code && revealed?.content?.kind === 'email' ? (revealed.content as Email) : undefined;
  const [asking, setAsking] = useState(false);
  useEffect(() => setAsking(false), [message.id]);
  return (
    <>
      <PageHeader
        title={revealed?.recipient ?? (message.recipient || 'Erased recipient')}
        badge={<StatusBadge channel={message.channel} status={message.status} />}
        back={props.back}
        description={
          <>
            <ChannelName channel={message.channel} />
            {message.sender && ` from ${message.sender}`}, accepted {fullTime(message.acceptedAt)}
          </>
        }
      >
        <CurlButton
          title="Read this message by API"
          action={{ action: 'message', channel: message.channel, id: message.id }}
        />
        {reveal && !revealed && (
          <Button icon="eye" busy={show.busy} onClick={() => void show.run()}>
            Reveal
          </Button>
        )}
        {(message.canResend || message.canSettle) && (
          <Button icon="refresh" onClick={() => setAsking(true)}>
            {message.status === 'unknown' ? 'Settle or send again' : 'Send again'}
          </Button>
        )}
      </PageHeader>
      {asking && (
        <ResendDialog
          message={message}
          onSettled={props.onSettled}
          onClose={() => setAsking(false)}
        />
      )}
      <ErrorNotice error={show.error} />
      {message.reason && message.errorCode && (
        <Notice tone="warning" title={message.reason}>
          Code <code>{message.errorCode}</code>
          {remedy && `. ${remedy}`}
        </Notice>
      )}
      {email && (
        <Card title="Content">
          <EmailView src={`api/messages/${message.id}/html`} email={email} />
        </Card>
      )}
      <div class="columns wide-first">
        <div class="stack">
          <Card title="Timeline">
            <Timeline channel={message.channel} entries={message.timeline} />
          </Card>
          {product.ofMessage && <product.ofMessage message={message} />}
        </div>
        <div class="stack">
          {!email && (
            <Card title="Content">
              {revealed && !message.code ? (
                <RevealedContent content={revealed.content} />
              ) : (
                <Outline message={message} />
              )}
            </Card>
          )}
          {message.facts.length > 0 && (
            <Card title={message.content?.product ? 'Order' : 'Call'}>
              <Facts
                rows={(revealed ?? message).facts.map(({ title, value }) => [
                  title,
                  textOrTime(value),
                ])}
              />
            </Card>
          )}
          <Card title="Details">
            <Details message={message} />
          </Card>
        </div>
      </div>
    </>
  );
}

function Outline({ message }: { message: MessageDetail }): JSX.Element {
  const { reveal } = useContextData();
  const { content } = message;
  if (message.code)
    return (
      <p>
        A one-time code, which no page shows. Its verification is <CodeBadge code={message.code} />
      </p>
    );
  if (!content) return <p class="muted">Deleted by retention or an erasure.</p>;
  return (
    <>
      <Facts
        rows={[
          ['Kind', kindWords(content.kind)],
          content.product !== null && ['Product', content.product],
          content.template !== null && ['Template', content.template],
          content.characters !== null && ['Length', `${content.characters} characters`],
          message.parts > 0 && ['Parts', message.parts],
        ]}
      />
      <p class="muted small">
        {reveal
          ? 'Masked. “Reveal” shows it and writes an entry of the audit log.'
          : 'Masked: your role does not reveal recipients and texts.'}
      </p>
    </>
  );
}

function RevealedContent({ content }: Pick<RevealAnswer, 'content'>): JSX.Element {
  if (!content) return <p class="muted">Deleted by retention or an erasure.</p>;
  const text = content['text'];
  const rest = Object.entries(content).filter(
    ([name, value]) => !['kind', 'text'].includes(name) && value !== undefined,
  );
  return (
    <>
      {rest.length > 0 && (
        <Facts rows={rest.map(([name, value]) => [words(name), valueWords(value)])} />
      )}
      {typeof text === 'string' && <p class="message-text">{text}</p>}
    </>
  );
}

function Details({ message }: { message: MessageDetail }): JSX.Element {
  const tenant = useTenantFact(message.tenant);
  return (
    <Facts
      rows={[
        ['Message id', <Copy key="id" value={message.id} label="message id" />],
        tenant,
        [
          'Batch',
          <a key="batch" href={`batches/${message.batchId}`}>
            <code>{message.batchId}</code>
          </a>,
        ],
        message.providerId !== null && [
          'Provider’s id',
          <Copy key="provider" value={message.providerId} label="provider’s id" />,
        ],
        ['Provider', message.provider ?? 'not chosen yet'],
        ['Attempts', message.attempts],
        ...moneyOfMessage(message),
        message.category !== null && ['Category', message.category],
        message.sendAt !== null && ['Scheduled for', fullTime(message.sendAt)],
        message.sentAt !== null && ['Sent', fullTime(message.sentAt)],
        message.validUntil !== null && ['Valid until', fullTime(message.validUntil)],
        message.verification !== null && [
          'Verification',
          <Copy key="verification" value={message.verification.id} label="verification’s id" />,
        ],
        message.verification !== null && [
          'Code valid until',
          fullTime(message.verification.expiresAt),
        ],
        message.tags.length > 0 && [
          'Tags',
          <span key="tags" class="chips">
            {message.tags.map((tag) => (
              <a key={tag} class="chip" href={`messages?tag=${encodeURIComponent(tag)}`}>
                {tag}
              </a>
            ))}
          </span>,
        ],
        message.contactId !== null && [
          'Contact',
          <a key="contact" href={`contacts/${message.contactId}`}>
            Open the conversation
          </a>,
        ],
      ]}
    />
  );
}
