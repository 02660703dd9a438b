import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Phone, PhoneMessage, PhonesAnswer } from '../../src/api.js';
import { call } from '../app/api-client.js';
import { useChannel } from '../app/context.js';
import { clockTime } from '../app/format.js';
import { toast } from '../app/toasts.js';
import { useAction, useData } from '../app/use-data.js';
import { ChannelName, words } from '../components/badge.js';
import {
  Button,
  Card,
  Countdown,
  Empty,
  ErrorNotice,
  PageHeader,
  Skeleton,
} from '../components/basics.js';
import { Icon } from '../components/icon.js';
import { ReportButtons } from './report-buttons.js';
import { Inbox } from './inbox.js';
import { SendButton } from './send-button.js';

/** Phones that are drawn at first; more make the page slow to look through. */
const SHOWN = 6;

export function PhonePage(): JSX.Element {
  const { data, error, loading, reload } = useData<PhonesAnswer>('api/phones', true);
  const [all, setAll] = useState(false);
  const phones = all ? data?.phones : data?.phones.slice(0, SHOWN);
  return (
    <>
      <PageHeader
        title="Phone"
        description="The simulator delivers to these phones and to this inbox. Answer as the customer: it goes the way of a real inbound message."
      >
        <SendButton />
      </PageHeader>
      {loading && <Skeleton lines={10} />}
      <ErrorNotice error={error} retry={reload} />
      {data && data.phones.length + data.inbox.length === 0 && (
        <Card>
          <Empty icon="phone" title="No phone has got a message yet" action={<SendButton />}>
            Send to any number, such as 2348012345601, or to an address such as ada@example.com.
          </Empty>
        </Card>
      )}
      {phones && phones.length > 0 && (
        <div class="phones">
          {phones.map((phone) => (
            <DrawnPhone key={`${phone.tenant}/${phone.channel}/${phone.number}`} phone={phone} />
          ))}
        </div>
      )}
      {data && !all && data.phones.length > SHOWN && (
        <Button onClick={() => setAll(true)}>Show all {data.phones.length} phones</Button>
      )}
      {data && data.inbox.length > 0 && <Inbox emails={data.inbox} />}
    </>
  );
}

function DrawnPhone({ phone }: { phone: Phone }): JSX.Element {
  const channel = useChannel(phone.channel);
  const received = phone.messages.filter(({ direction }) => direction === 'in');
  const newest = received.at(-1);
  const [chosen, setChosen] = useState<string>();
  const message = received.find(({ id }) => id === chosen) ?? newest;
  const screen = useRef<HTMLOListElement>(null);
  useEffect(() => {
    screen.current?.scrollTo(0, screen.current.scrollHeight);
  }, [phone.messages.length]);
  return (
    <section
      class="phone-set"
      aria-label={`Phone ${phone.number}, ${channel?.title ?? phone.channel}`}
    >
      <div class={`phone ${phone.channel}`}>
        <header>
          <span class="avatar" aria-hidden="true">
            <Icon name="user" />
          </span>
          <div>
            <strong>{newest?.sender ?? phone.number}</strong>
            <span>
              <ChannelName channel={phone.channel} /> on {phone.number}
            </span>
          </div>
        </header>
        <ol ref={screen} tabIndex={0} aria-label={phone.canReply ? 'Messages' : 'Events'}>
          {phone.messages.map((one) => (
            <PhoneBubble
              key={one.id}
              message={one}
              chosen={received.length > 1 && one.id === message?.id}
              choose={() => setChosen(one.id)}
            />
          ))}
        </ol>
        {newest && phone.canReply && <Answer phone={phone} to={newest.sender} />}
      </div>
      <div class="phone-side">
        {channel?.serviceWindow && (
          <p class="window">
            {phone.windowEndsAt && new Date(phone.windowEndsAt).getTime() > Date.now() ? (
              <>
                Window open: <Countdown until={phone.windowEndsAt} />
              </>
            ) : (
              'Window closed: only templates reach this phone'
            )}
          </p>
        )}
        {message && <ReportButtons channel={phone.channel} message={message} />}
      </div>
    </section>
  );
}

function PhoneBubble(props: {
  message: PhoneMessage;
  chosen: boolean;
  choose: () => void;
}): JSX.Element {
  const { message } = props;
  const time = <time dateTime={message.at}>{clockTime(message.at)}</time>;
  if (message.direction === 'out') {
    return (
      <li class="out">
        <p>{message.text ?? '…'}</p>
        <footer>{time}</footer>
      </li>
    );
  }
  return (
    <li class={`in${props.chosen ? ' chosen' : ''}`}>
      {message.kind === 'call' && (
        <p class="phone-event">
          <Icon name="call" /> Call{message.note && `: ${message.note}`}
        </p>
      )}
      {message.kind === 'order' && (
        <p class="phone-event">
          <Icon name="bag" /> Top-up
        </p>
      )}
      <p>{message.text === null ? <em>deleted</em> : quoted(message)}</p>
      <footer>
        {time} <Ticks status={message.status ?? 'queued'} kind={message.kind} />
        <button
          type="button"
          class="bubble-choose"
          aria-pressed={props.chosen}
          onClick={props.choose}
        >
          <span class="hidden">Choose the status of this message</span>
        </button>
      </footer>
    </li>
  );
}

const quoted = ({ kind, text }: PhoneMessage): string =>
  kind === 'call' ? `“${text ?? ''}”` : (text ?? '');

/** One tick: sent. Two: delivered. Two in colour: read. */
function Ticks({ status, kind }: { status: string; kind: PhoneMessage['kind'] }): JSX.Element {
  if (kind !== 'message') return <span>{words(status)}</span>;
  const ticks = status === 'sent' ? 1 : status === 'delivered' || status === 'read' ? 2 : undefined;
  return (
    <span class={`ticks ${status}`}>
      <span class="hidden">{words(status)}</span>
      {ticks ? (
        <svg viewBox="0 0 18 12" aria-hidden="true">
          <path
            d={
              ticks === 2
                ? 'M1 6.5 4.500 10 11 2.500M8.500 9l1 1L16 2.500'
                : 'M3 6.500 6.500 10 13 2.500'
            }
          />
        </svg>
      ) : (
        <span aria-hidden="true">{status === 'queued' || status === 'sending' ? '◷' : '!'}</span>
      )}
    </span>
  );
}

function Answer({ phone, to }: { phone: Phone; to: string }): JSX.Element {
  const [text, setText] = useState('');
  const reply = useAction(async (words: string) => {
    await call('POST', 'api/phones/reply', {
      channel: phone.channel,
      from: phone.number,
      to,
      text: words,
      tenant: phone.tenant,
    });
    setText('');
    toast('Answered as the customer');
  });
  return (
    <form
      class="phone-answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) void reply.run(text.trim());
      }}
    >
      <ErrorNotice error={reply.error} />
      <div>
        <input
          aria-label={`Answer as ${phone.number}`}
          placeholder="Answer as the customer"
          value={text}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" kind="quiet" icon="send" iconOnly busy={reply.busy}>
          Answer
        </Button>
      </div>
      <div class="quick">
        {['YES', 'STOP', 'START'].map((word) => (
          <Button key={word} onClick={() => void reply.run(word)}>
            {word}
          </Button>
        ))}
      </div>
    </form>
  );
}
