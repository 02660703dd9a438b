import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type {
  ContactDetail,
  ChannelInfo,
  EstimateAnswer,
  SendAnswer,
  SendRequest,
} from '../../src/api.js';
import { ApiError, call } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import { formatNumber, plural } from '../app/format.js';
import { useProduct } from '../app/product.js';
import { navigate } from '../app/router.js';
import { toast } from '../app/toasts.js';
import { words } from '../components/badge.js';
import { Button } from '../components/basics.js';
import { CurlDetails } from '../components/curl.js';
import { FormDialog } from '../components/dialog.js';
import { Field, Select, TextArea } from '../components/field.js';
import { type Content, ContentFields, contentOf } from './content-fields.js';

/** Milliseconds without typing before the send is estimated. */
const PAUSE = 400;

export function SendButton(): JSX.Element | null {
  const { act } = useContextData();
  const [open, setOpen] = useState(false);
  if (!act) return null;
  return (
    <>
      <Button kind="primary" icon="send" onClick={() => setOpen(true)}>
        Send a message
      </Button>
      {open && <SendDialog onClose={() => setOpen(false)} />}
    </>
  );
}

interface Draft {
  readonly channel: string;
  readonly tenant: string;
  readonly from: string;
  readonly to: string;
  readonly content: Content;
  readonly sendAt: string;
}

export function SendDialog(props: {
  channel?: string;
  contact?: ContactDetail;
  /** Kind of content to begin with. */
  kind?: string;
  onClose: () => void;
}): JSX.Element {
  const { channels: all, tenants } = useContextData();
  const channels = all.filter(({ sendable }) => sendable);
  const product = useProduct();
  const first = channels.find(({ name }) => name === props.channel) ?? channels[0];
  const [draft, setDraft] = useState<Draft>(() => ({
    channel: first?.name ?? '',
    tenant: props.contact?.tenant ?? (tenants !== 'all' ? (tenants[0] ?? '') : ''),
    from: '',
    to: addressFor(first, props.contact),
    content: { kind: props.kind ?? first?.contentKinds[0] ?? 'text' },
    sendAt: '',
  }));
  const [senders, setSenders] = useState<readonly string[]>([]);
  const key = useMemo(newKey, []);
  const channel = channels.find(({ name }) => name === draft.channel);
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const field = (name: 'from' | 'tenant' | 'to' | 'sendAt', error: ApiError | undefined) => ({
    name,
    value: draft[name],
    error: error?.fields[name] ?? firstUnder(error, name),
    onInput: (event: { currentTarget: { value: string } }) =>
      change({ [name]: event.currentTarget.value }),
  });
  const request = requestOf(draft, tenants === 'all' || tenants.length > 1);
  const estimate = useEstimate(request);

  useEffect(() => {
    const { channel: asked } = draft;
    let left = false;
    void product.senders?.(asked).then((names) => {
      if (left) return;
      setSenders(names);
      // Another channel may be chosen already: effects end after the page is drawn.
      setDraft((before) =>
        before.channel === asked ? { ...before, from: before.from || (names[0] ?? '') } : before,
      );
    });
    return () => {
      left = true;
    };
  }, [draft.channel, product]);

  const choose = (name: string): void => {
    // The senders of this channel are not read again.
    if (name === draft.channel) return;
    const next = channels.find((one) => one.name === name);
    change({
      channel: name,
      from: '',
      to: props.contact ? addressFor(next, props.contact) : draft.to,
      content: { kind: next?.contentKinds[0] ?? 'text' },
    });
  };

  return (
    <FormDialog
      title="Send a message"
      submit={draft.sendAt ? 'Schedule' : 'Send'}
      wide
      onClose={props.onClose}
      action={async () => {
        const { batchId, recipients, replayed } = await call<SendAnswer>('POST', 'api/messages', {
          ...request,
          idempotencyKey: key,
        });
        toast(
          replayed ? 'This was sent already' : `Accepted for ${plural(recipients, 'recipient')}`,
        );
        navigate(recipients === 1 ? `messages/${batchId}-0` : `batches/${batchId}`);
      }}
    >
      {(error) => (
        <>
          <div class="field-row">
            <Select
              label="Channel"
              name="channel"
              value={draft.channel}
              options={channels.map(({ name, title }) => [name, title])}
              onChange={(event) => choose(event.currentTarget.value)}
            />
            <Field label="From" list="senders" autocomplete="off" {...field('from', error)} />
            <datalist id="senders">
              {senders.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </div>
          {tenants !== 'all' && tenants.length === 1 ? null : (
            <Field label="Tenant" {...field('tenant', error)} />
          )}
          <TextArea
            label="To"
            rows={2}
            required
            spellcheck={false}
            hint={hintOf(channel)}
            {...field('to', error)}
          />
          <ContentFields
            channel={channel}
            content={draft.content}
            error={error}
            onChange={(content) => change({ content })}
          />
          <Field
            label="Send at"
            type="datetime-local"
            hint="Empty: now."
            {...field('sendAt', error)}
          />
          <Estimate answer={estimate} />
          {request && <CurlDetails action={{ action: 'send', request }} />}
        </>
      )}
    </FormDialog>
  );
}

/** One key for the dialog: two clicks, or a repeated request, send once. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function addressFor(channel: ChannelInfo | undefined, contact: ContactDetail | undefined): string {
  const address = contact?.addresses.find(({ kind }) => channel?.addressKinds.includes(kind));
  return address && !address.value.includes('•') ? address.value : '';
}

function hintOf(channel: ChannelInfo | undefined): string {
  const kinds = { phone: 'phone numbers', email: 'e-mail addresses', platform: 'platform ids' };
  const names = (channel?.addressKinds ?? []).map((kind) => kinds[kind]);
  if (channel?.groups) names.push('group ids');
  if (channel?.maxRecipients === 1) return `one of: ${names.join(' or ')}`;
  const most = channel ? `, at most ${formatNumber(channel.maxRecipients)}` : '';
  return `${names.join(' or ') || 'addresses'}, separated by commas or lines${most}`;
}

const firstUnder = (error: ApiError | undefined, field: string): string | undefined =>
  Object.entries(error?.fields ?? {}).find(([path]) => path.startsWith(`${field}[`))?.[1];

/** `undefined` while a needed field is empty. */
function requestOf(draft: Draft, severalTenants: boolean): SendRequest | undefined {
  const to = draft.to.split(/[\s,;]+/).filter(Boolean);
  const content = contentOf(draft.content);
  if (to.length === 0 || !content) return undefined;
  const sendAt = draft.sendAt ? new Date(draft.sendAt) : undefined;
  return {
    channel: draft.channel,
    ...(severalTenants && draft.tenant ? { tenant: draft.tenant } : {}),
    ...(draft.from ? { from: draft.from } : {}),
    to,
    content,
    ...(sendAt && !Number.isNaN(sendAt.getTime()) ? { sendAt: sendAt.toISOString() } : {}),
  };
}

/** The first wrong field and its error. */
function firstOf({ fields }: ApiError): string | undefined {
  const [first] = Object.entries(fields);
  return first && `${words(first[0])}: ${first[1]}`;
}

type Estimated = EstimateAnswer | ApiError | undefined;

function useEstimate(request: SendRequest | undefined): Estimated {
  const [answer, setAnswer] = useState<Estimated>();
  const body = request && JSON.stringify(request);
  useEffect(() => {
    if (!body) {
      setAnswer(undefined);
      return undefined;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      call<EstimateAnswer>('POST', 'api/messages/estimate', JSON.parse(body), {
        signal: controller.signal,
      })
        .then(setAnswer)
        .catch((error: unknown) => {
          if (!controller.signal.aborted && error instanceof ApiError) setAnswer(error);
        });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [body]);
  return answer;
}

/** Shows the effect of the send while the person writes it. */
function Estimate({ answer }: { answer: Estimated }): JSX.Element {
  return (
    <div class="estimate" role="status" aria-label="Estimate">
      {answer === undefined && (
        <p class="muted">Recipients, parts and price appear here before you send.</p>
      )}
      {answer instanceof ApiError && <p class="muted">{firstOf(answer) ?? answer.message}</p>}
      {answer && !(answer instanceof ApiError) && (
        <>
          <dl>
            <div>
              <dt>Recipients</dt>
              <dd>{formatNumber(answer.allowed)}</dd>
            </div>
            <div>
              <dt>Duplicates</dt>
              <dd>{formatNumber(answer.duplicates)}</dd>
            </div>
            {answer.parts > 0 && (
              <div>
                <dt>Parts each</dt>
                <dd>{answer.parts}</dd>
              </div>
            )}
            <div>
              <dt>Price</dt>
              <dd>
                {answer.totalCost === null
                  ? 'no rate'
                  : `${answer.totalCost} ${answer.currency ?? ''}`}
              </dd>
            </div>
          </dl>
          {answer.denied.map(({ reason, title, recipients }) => (
            <p key={reason} class="warning-text">
              {plural(recipients, 'recipient')} not sent to: {title || words(reason)}
            </p>
          ))}
          {answer.invalid.slice(0, 5).map(({ path, message }) => (
            <p key={path} class="field-error">
              {path}: {message}
            </p>
          ))}
        </>
      )}
    </div>
  );
}
