import { addressOf, type AddressKind, isGroupId, ruleOf } from '../../message/address.js';
import type { ChannelDefinition } from '../../message/channel-definition.js';
import { type FieldError, MessageValidationError } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import type { NewBatch } from '../../store/rows/new-batch.js';
import type { Channel } from '../../message/message.js';
import type { ChannelContext } from '../channel.service.js';
import { type KnownFields, LABEL_FIELDS, unknownFieldsOf } from '../known-fields.js';
import {
  type ChannelMessage,
  checkTime,
  checkWords,
  durationOf,
  given,
  type LibraryMessage,
} from '../send.js';
import { validForOf } from './notification-runner.js';
import type { NotificationKey, StoredMessage, StoredPlan } from './notification-store.js';
import type {
  NewNotification,
  NotificationFallback,
  NotificationRecipient,
  NotificationSendOptions,
} from './notification.js';

/** A notification with checked fields, before the policies are asked. */
export interface CheckedNotification {
  readonly id: string;
  readonly tenant: string;
  /** The message of each channel, in their order. */
  readonly batches: readonly NewBatch[];
  /** After the first channel. */
  readonly plan: StoredPlan;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly beginsAt: number;
  readonly keys: readonly NotificationKey[];
}

const SHORTEST = 1_000;

const FIELDS: KnownFields<Omit<NewNotification, Channel>> = {
  via: true,
  fallback: true,
  sendAt: true,
  ...LABEL_FIELDS,
};
const FALLBACK_FIELDS: KnownFields<NotificationFallback> = { after: true, unless: true };
/** Of a channel that names no fields and reads none of its own. */
const MESSAGE_FIELDS = { from: true, content: true } as const;

/** Fields of the notification itself: their errors do not begin with the channel. */
const OWN_FIELD = /^(?:sendAt|class|tenant|tags|metadata)\b/;

/**
 * @throws MessageValidationError naming each wrong field
 * @throws NoRouteError
 */
export function checkedNotification(
  context: ChannelContext,
  notification: NewNotification,
  to: NotificationRecipient,
  options: NotificationSendOptions,
): CheckedNotification {
  const { clock, store } = context;
  const { fallback = {}, sendAt } = given(notification, 'notification');
  const { tenant = '', idempotencyKey, spender } = options;
  const errors: FieldError[] = [];
  const refuse = (path: string, message: string) => errors.push({ path, message });
  const definitions = channelsOf(context, notification, refuse);
  const messages = Object.fromEntries(context.channels.names.map((name) => [name, true as const]));
  errors.push(...unknownFieldsOf(notification, { ...FIELDS, ...messages }));
  const { after, unless = 'sent' } = given(fallback, 'fallback');
  for (const { path, message } of unknownFieldsOf(fallback, FALLBACK_FIELDS))
    refuse(`fallback.${path}`, message);
  const wait = durationOf('fallback.after', after, errors);
  if (wait !== null && wait < SHORTEST) refuse('fallback.after', 'must be at least 1s');
  if (unless !== 'sent' && unless !== 'delivered')
    refuse('fallback.unless', "must be 'sent' or 'delivered'");
  const lasts = durationOf('validFor', options.validFor, errors);
  if (lasts === 0) refuse('validFor', 'must be longer than 0');
  checkTime('sendAt', sendAt, errors);
  checkWords({ tenant, idempotencyKey, class: options.class, spender }, errors);
  if (isGroupId(to)) refuse('to', 'must be one address, and is a group');
  const createdAt = clock.now();
  const beginsAt = Math.max(createdAt, sendAt?.getTime() ?? 0);
  const until = lasts === null ? null : beginsAt + lasts;
  const id = clock.id();
  const batches: NewBatch[] = [];
  for (const [index, definition] of errors.length === 0 ? definitions.entries() : []) {
    const hasNext = index < definitions.length - 1;
    const validFor = validForOf({ after: wait, until }, hasNext, beginsAt) ?? undefined;
    const message = messageOf(definition, notification, to, refuse);
    if (!message) continue;
    try {
      const batch = context.enqueuer.prepare(definition, message, {
        tenant,
        ...(options.class && { class: options.class }),
        ...(validFor !== undefined && { validFor }),
        ...(spender !== undefined && { spender }),
      });
      if (batch.attachments?.length)
        refuse(`${definition.name}.attachments`, 'must be left out of a notification');
      batches.push({ ...batch, notification: id });
    } catch (error) {
      if (!(error instanceof MessageValidationError)) throw error;
      for (const { path, message: rule } of error.fields)
        if (/^to\b/.test(path)) refuse('to', `for ${definition.name} ${rule}`);
        else refuse(OWN_FIELD.test(path) ? path : `${definition.name}.${path}`, rule);
    }
  }
  if (errors.length > 0) throw new MessageValidationError(unique(errors));
  const plan = { after: wait, unless, until, messages: batches.slice(1).map(storedMessage) };
  const asked = [
    batches.map(({ channel, sender, recipients, content }) => [
      channel,
      sender,
      recipients,
      // The platform may change a template's category between a send and its retry.
      content.kind === 'template'
        ? { ...content, category: undefined, paramNames: undefined }
        : content,
    ]),
    [wait, unless, sendAt?.getTime() ?? null, options.class ?? null, lasts],
    ...batches.slice(0, 1).flatMap(({ labels }) => labels ?? []),
  ];
  const { digests } = store;
  const fingerprints = idempotencyKey === undefined ? [] : digests.fingerprints(asked);
  const keys = idempotencyKey === undefined ? [] : digests.ofIdempotencyKey(idempotencyKey);
  return {
    id,
    tenant,
    batches,
    plan,
    createdAt,
    beginsAt,
    keys: keys.map((key, n) => ({ key, fingerprint: fingerprints[n] as string })),
  };
}

type Refuse = (path: string, message: string) => void;

function channelsOf(
  { channels }: ChannelContext,
  { via }: NewNotification,
  refuse: Refuse,
): ChannelDefinition[] {
  const names: readonly unknown[] = Array.isArray(via) ? via : [];
  if (names.length === 0) refuse('via', "must name the channels, such as ['whatsapp', 'sms']");
  const repeatable = channels.namesWhere(({ irrevocable }) => irrevocable === undefined);
  return names.flatMap((name, index) => {
    if (typeof name !== 'string' || !repeatable.includes(name)) {
      refuse(`via[${index}]`, `must be one of ${repeatable.join(', ')}`);
      return [];
    }
    if (names.indexOf(name) < index) {
      refuse(`via[${index}]`, `names ${name} again; name each channel once`);
      return [];
    }
    return channels.get(name);
  });
}

/** The channel's message; `undefined`: it is wrong. */
function messageOf(
  { name, addressKinds, messageOf: read, fields: known }: ChannelDefinition,
  notification: NewNotification,
  to: NotificationRecipient,
  refuse: Refuse,
): LibraryMessage | undefined {
  const { sendAt, tags, metadata } = notification;
  const fields = own(notification, name);
  const recipient = recipientOf(to, addressKinds);
  if (recipient === undefined) refuse('to', `for ${name} ${ruleOf(addressKinds)}`);
  if (typeof fields !== 'object' || fields === null) {
    refuse(name, `is missing: the message of the channel, as its service takes it`);
    return undefined;
  }
  const unknown = known || !read ? unknownFieldsOf(fields, known ?? MESSAGE_FIELDS) : [];
  for (const { path, message } of unknown) refuse(`${name}.${path}`, message);
  if (recipient === undefined || unknown.length > 0) return undefined;
  const { from, content } = read ? read({ ...fields }) : (fields as ChannelMessage);
  return {
    from,
    to: recipient,
    content,
    deliveryReport: true,
    sendAt,
    tags,
    metadata,
  };
}

/** The address of the first kind that the channel takes. */
function recipientOf(
  to: NotificationRecipient,
  kinds: readonly AddressKind[],
): ChannelMessage['to'] | undefined {
  if (typeof to === 'string') return to;
  if (typeof to !== 'object' || to === null) return undefined;
  if ('kind' in to) return to;
  for (const kind of kinds) {
    const address = addressOf(kind, to[kind]);
    if (address) return address;
  }
  return undefined;
}

function storedMessage(batch: NewBatch): StoredMessage {
  const { channel, lane, sender, content, deliveryReport, parts, recipients, labels } = batch;
  const { spender } = batch;
  return {
    channel,
    lane,
    class: batch.class,
    sender,
    content,
    deliveryReport,
    parts,
    recipients,
    labels,
    ...(spender !== undefined && { spender }),
  };
}

function unique(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [`${error.path} ${error.message}`, error])).values()];
}
