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
import { newKey } from '../app/new-key.js';
import { isLess, money } from '../app/amounts.js';
import { type Balance, useProduct } from '../app/product.js';
import { navigate } from '../app/router.js';
import { templateText } from '../app/template-text.js';
import { toast } from '../app/toasts.js';
import { useData } from '../app/use-data.js';
import { words } from '../components/badge.js';
import { Notice } from '../components/basics.js';
import { CurlDetails } from '../components/curl.js';
import { FormDialog } from '../components/dialog.js';
import { Field, Select, TextArea } from '../components/field.js';
import { type Content, ContentFields, contentOf } from './content-fields.js';
import { PhonePreview } from './phone-preview.js';

/** Milliseconds without typing before the send is estimated. */
const PAUSE = 400;

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
  const balance = useData<Balance>(product.balance).data;
  const question = useQuestion(request);

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

  const verb = draft.sendAt ? 'Schedule' : 'Send';
  return (
    <FormDialog
      title="Send a message"
      submit={
        question.asked === undefined ? verb : `${verb} to ${plural(question.asked, 'recipient')}`
      }
      wide
      keepOpen
      question={
        question.asked !== undefined && (
          <Notice tone="warning" title={`${verb} to ${plural(question.asked, 'recipient')}?`}>
            Press the button again. What has left cannot be taken back.
          </Notice>
        )
      }
      onClose={props.onClose}
      action={async () => {
        if (!(await question.isAnswered())) return;
        const { batchId, recipients, replayed } = await call<SendAnswer>('POST', 'api/messages', {
          ...request,
          idempotencyKey: key,
        });
        toast(
          replayed ? 'This was sent already' : `Accepted for ${plural(recipients, 'recipient')}`,
        );
        props.onClose();
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
          {PREVIEWED.has(draft.content.kind) && (
            <PhonePreview
              from={draft.from}
              text={previewOf(draft.content)}
              counted={draft.channel === 'sms'}
            />
          )}
          <Field
            label="Send at"
            type="datetime-local"
            hint="Empty: now."
            {...field('sendAt', error)}
          />
          <Estimate answer={estimate} balance={balance} />
          {request && <CurlDetails action={{ action: 'send', request }} />}
        </>
      )}
    </FormDialog>
  );
}

function addressFor(channel: ChannelInfo | undefined, contact: ContactDetail | undefined): string {
  const address = contact?.addresses.find(({ kind }) => channel?.addressKinds.includes(kind));
  return address && !address.value.includes('•') ? address.value : '';
}

function hintOf(channel: ChannelInfo | undefined): string {
  const kinds = { phone: 'phone numbers', email: 'e-mail addresses', platform: 'platform ids' };
  const given = (channel?.addressKinds ?? []).map((kind) => kinds[kind]);
  if (channel?.groups) given.push('group ids');
  const names = given.join(' or ') || 'addresses';
  if (channel?.maxRecipients === 1) return `One of: ${names}`;
  const most = channel ? `, at most ${formatNumber(channel.maxRecipients)}` : '';
  return `${names.charAt(0).toUpperCase()}${names.slice(1)}, separated by commas or lines${most}`;
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

/** Kinds of content that a phone shows as text. */
const PREVIEWED: ReadonlySet<string> = new Set(['text', 'template']);

/** The text, or the body of the template with its values. */
function previewOf({ kind, text, template, body, params, paramNames }: Content): string {
  if (kind === 'text') return typeof text === 'string' ? text : '';
  if (typeof template !== 'string') return '';
  const values = Array.isArray(params) ? params.map(String) : [];
  const names = Array.isArray(paramNames) ? paramNames.map(String) : undefined;
  return templateText(typeof body === 'string' ? body : null, template, values, names);
}

/** Recipients above which a send asks. */
const MANY = 100;

interface Question {
  /** The recipients that the person was asked about; `undefined`: there is no question. */
  readonly asked: number | undefined;
  /** Asks where it must; true: the send may go. */
  readonly isAnswered: () => Promise<boolean>;
}

/** A send to many recipients asks once more, with their number. */
function useQuestion(request: SendRequest | undefined): Question {
  const [asked, setAsked] = useState<number>();
  const body = JSON.stringify(request);
  useEffect(() => setAsked(undefined), [body]);
  const isAnswered = async (): Promise<boolean> => {
    const mayBeMany = request?.to.some((one) => one.startsWith('grp_')) ?? false;
    if (asked !== undefined || !request || (request.to.length <= MANY && !mayBeMany)) return true;
    const { allowed } = await call<EstimateAnswer>('POST', 'api/messages/estimate', request);
    if (allowed <= MANY) return true;
    setAsked(allowed);
    return false;
  };
  return { asked, isAnswered };
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
function Estimate({ answer, balance }: { answer: Estimated; balance?: Balance }): JSX.Element {
  const pays = balance && balance.mode !== 'off' ? balance : undefined;
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
                  : `${money(answer.totalCost)} ${answer.currency ?? ''}`}
              </dd>
            </div>
            {pays && (
              <div>
                <dt>You may spend</dt>
                <dd>
                  {money(pays.available)} {pays.currency}
                </dd>
              </div>
            )}
          </dl>
          {pays && answer.totalCost !== null && isLess(pays.available, answer.totalCost) && (
            <p class="field-error">
              The balance does not reach: top it up, or the send is refused.
            </p>
          )}
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
