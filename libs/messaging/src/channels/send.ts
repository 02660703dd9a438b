import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { isGroupId } from '../contacts/groups.js';
import type { AddressKind } from '../message/address.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import {
  type FieldError,
  MessageValidationError,
  MessagingConfigError,
} from '../message/errors.js';
import type { MessageClass, MessageContent } from '../message/message.js';
import {
  type ReadRecipients,
  readRecipients,
  type Recipients,
  ruleOf,
} from '../message/recipients.js';
import type { Clock } from '../ports/clock.js';
import { type Duration, milliseconds } from '../ports/duration.js';
import type { MessagingSettings } from '../ports/messaging-settings.js';
import type { NewBatch } from '../store/rows/new-batch.js';

/** Options of a send on any channel. */
export interface SendOptions {
  /**
   * Joins this transaction: the send commits or rolls back with it. It must be a transaction of the
   * module's data source.
   */
  readonly manager?: EntityManager;
  /** Tenant of the message. @default '' */
  readonly tenant?: string;
  /**
   * At most 255 visible ASCII characters. A repeated send with the same key and content returns the
   * first batch.
   */
  readonly idempotencyKey?: string;
  /** @default 'normal' */
  readonly class?: MessageClass;
  /**
   * Longest time from due to start; a message that has not started by then is `expired` and not
   * sent. @default unlimited
   */
  readonly validFor?: Duration;
}

/** Result of a send, once the batch is durable (or part of the caller's transaction). */
export interface Receipt {
  /** UUIDv7 of the batch; `reference_id` in the HTTP interface. */
  readonly id: string;
  /** Number of unique recipients. */
  readonly recipients: number;
  readonly createdAt: Date;
  /** The idempotency key was used before: this is the batch of the first send. */
  readonly replayed: boolean;
}

/** A message on any channel. */
export interface ChannelMessage {
  /** Sender; the channel's definition checks it. */
  readonly from?: string | undefined;
  readonly to: Recipients;
  /** Content of one of the channel's kinds. */
  readonly content: MessageContent | ContentInput;
  /** Ask the provider for a callback per status change. @default the channel's, `'yes'` */
  readonly deliveryReport?: 'none' | 'yes' | undefined;
  /** Earliest time of sending; a past time means at once. */
  readonly sendAt?: Date | undefined;
}

/** Content as given by the caller; the channel's definition checks it by its kind. */
export interface ContentInput {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** A message that the library itself can send. */
export interface LibraryMessage extends ChannelMessage {
  /** The message confirms this opt-out and bypasses it. */
  readonly confirms?: 'opted_out' | undefined;
}

/** A send that passed its checks. */
export interface CheckedSend {
  readonly batch: NewBatch;
  /** The content whose JSON is in `batch.content`. */
  readonly content: MessageContent;
}

/**
 * Members of the groups among the recipients, by group id. `undefined`: the message has no groups,
 * or the provider expands them.
 */
export type Members = ReadonlyMap<string, readonly string[]>;

export interface SendContext {
  readonly clock: Clock;
  readonly lane: MessagingSettings['dispatch']['lane'];
}

/**
 * Checks a send and builds its batch.
 * @throws MessageValidationError naming each wrong field
 */
export function checkedSend(
  channel: ChannelDefinition,
  message: LibraryMessage,
  options: SendOptions,
  members: Members | undefined,
  context: SendContext,
): CheckedSend {
  const errors: FieldError[] = [];
  const asked = recipientsOf(channel, message.to, members, errors);
  const sender = (channel.sender ?? anySender)(message.from, errors);
  const { content: checked, parts = 0 } = contentOf(channel, message.content, errors);
  checkTime('sendAt', message.sendAt, errors);
  const report = message.deliveryReport;
  if (report !== undefined && report !== 'none' && report !== 'yes')
    errors.push({ path: 'deliveryReport', message: "must be 'none' or 'yes'" });
  checkOptions(options, errors);
  if (errors.length > 0) throw new MessageValidationError(errors);
  const { tenant = '', validFor, idempotencyKey } = options;
  const sendAt = message.sendAt?.getTime() ?? null;
  const { confirms } = message;
  const content = confirms && checked.kind === 'text' ? { ...checked, confirms } : checked;
  const batch: NewBatch = {
    id: context.clock.id(),
    tenant,
    channel: channel.name,
    lane: laneOf(channel, tenant, context.lane),
    class: options.class ?? 'normal',
    sender,
    content: jsonOf(content),
    deliveryReport: (report ?? channel.deliveryReport ?? 'yes') === 'yes',
    parts,
    recipients: asked.recipients,
    denied: [],
    createdAt: context.clock.now(),
    sendAt,
    validFor: validFor === undefined ? null : milliseconds('validFor', validFor),
    idempotencyKey: idempotencyKey ?? null,
    fingerprint:
      idempotencyKey === undefined
        ? null
        : fingerprintOf(
            [
              sender,
              identityOf(content),
              report ?? null,
              sendAt,
              options.class ?? null,
              validFor ?? null,
            ],
            asked.unexpanded(),
          ),
  };
  return { batch, content };
}

/** Whether the recipients include a group. */
export function namesGroups(to: unknown): boolean {
  return Array.isArray(to) ? to.some(isGroupId) : isGroupId(to);
}

export function checkTenant(tenant: unknown, errors: FieldError[]): void {
  if (!isText(tenant, TENANT))
    errors.push({ path: 'tenant', message: 'must be at most 200 ASCII characters' });
}

export function checkIdempotencyKey(key: unknown, errors: FieldError[]): void {
  if (!isText(key, IDEMPOTENCY_KEY))
    errors.push({ path: 'idempotencyKey', message: 'must be 1 to 255 visible ASCII characters' });
}

/**
 * Adds an error unless `time` is undefined or a date that the store can hold: years 1970 to 9999.
 */
export function checkTime(path: string, time: unknown, errors: FieldError[]): void {
  if (time === undefined) return;
  const at = time instanceof Date ? time.getTime() : Number.NaN;
  if (!(at >= 0 && at < 253_402_300_800_000))
    errors.push({ path, message: 'must be a valid date' });
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const TENANT = /^[\x20-\x7e]{0,200}$/;
/** Text that the store can hold and logs can show. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

function checkOptions(options: SendOptions, errors: FieldError[]): void {
  if (options.class !== undefined && options.class !== 'high' && options.class !== 'normal')
    errors.push({ path: 'class', message: "must be 'high' or 'normal'" });
  checkTenant(options.tenant, errors);
  checkIdempotencyKey(options.idempotencyKey, errors);
}

/** Undefined, or a text of this form; `null` is rejected. */
function isText(value: unknown, form: RegExp): boolean {
  return value === undefined || (typeof value === 'string' && form.test(value));
}

function anySender(from: unknown, errors: FieldError[]): string {
  if (from === undefined) return '';
  if (typeof from === 'string' && NAME.test(from)) return from;
  errors.push({
    path: 'from',
    message: 'must be 1 to 255 characters, without control characters',
  });
  return '';
}

function contentOf(
  channel: ChannelDefinition,
  given: ChannelMessage['content'],
  errors: FieldError[],
): ReturnType<ChannelDefinition['content'][string]> {
  const kind = (given as { kind?: unknown } | undefined)?.kind;
  const check =
    typeof kind === 'string' && Object.hasOwn(channel.content, kind)
      ? channel.content[kind]
      : undefined;
  if (check) return check(given as ContentInput, errors);
  const kinds = Object.keys(channel.content).join(', ');
  errors.push({ path: 'content.kind', message: `must be one of ${kinds}` });
  return { content: given as MessageContent };
}

/** The output of `JSON.stringify`; plain text has a fast path that takes a third of the time. */
function jsonOf(content: MessageContent): string {
  return content.kind === 'text' && content.confirms === undefined
    ? `{"kind":"text","text":${JSON.stringify(content.text)}}`
    : JSON.stringify(content);
}

/** The platform may change a template's category between a send and its retry. */
function identityOf(content: MessageContent): string {
  return JSON.stringify(
    content.kind === 'template' ? { ...content, category: undefined } : content,
  );
}

/**
 * Identifies the content of a send; sends under one idempotency key must have the same fingerprint.
 */
function fingerprintOf(asked: readonly unknown[], recipients: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(asked))
    .update(recipients.join('\n'))
    .digest('hex');
}

interface AskedRecipients {
  readonly recipients: readonly string[];
  /**
   * The recipients as given by the caller, groups not expanded: the idempotency key covers these.
   */
  unexpanded(): readonly string[];
}

function recipientsOf(
  channel: ChannelDefinition,
  to: unknown,
  members: Members | undefined,
  errors: FieldError[],
): AskedRecipients {
  const { addressKinds, maxRecipients = 100_000, groups } = channel;
  const list: unknown = typeof to === 'string' || isAddressLike(to) ? [to] : to;
  const none = { recipients: [], unexpanded: () => [] };
  if (maxRecipients === 1 && (!Array.isArray(list) || list.length !== 1)) {
    errors.push({ path: 'to', message: ruleOf(addressKinds) });
    return none;
  }
  if (!Array.isArray(list)) {
    errors.push({ path: 'to', message: `must be ${NOUNS[addressKinds[0]]} or an array of them` });
    return none;
  }
  const { recipients, errors: wrong } = groups
    ? expanded(list, addressKinds, groups === 'pass' ? undefined : members)
    : readRecipients(list, addressKinds);
  for (const { path, message } of wrong)
    errors.push({ path: maxRecipients === 1 ? 'to' : path, message });
  if (wrong.length === 0 && recipients.length === 0)
    errors.push({ path: 'to', message: 'must name at least one recipient' });
  if (recipients.length > maxRecipients)
    errors.push({ path: 'to', message: `must name at most ${maxRecipients} recipients` });
  return {
    recipients,
    unexpanded: () => (members ? expanded(list, addressKinds, undefined).recipients : recipients),
  };
}

const NOUNS: Readonly<Record<AddressKind, string>> = {
  phone: 'a phone number',
  email: 'an e-mail address',
  platform: 'a platform id',
};

function isAddressLike(to: unknown): boolean {
  return typeof to === 'object' && to !== null && 'kind' in to;
}

/** Replaces groups by their members. Without `members` the groups follow the addresses. */
function expanded(
  to: readonly unknown[],
  kinds: readonly AddressKind[],
  members: Members | undefined,
): ReadRecipients {
  if (!to.some(isGroupId)) return readRecipients(to, kinds);
  const { recipients, errors } = readRecipients(
    to.filter((one) => !isGroupId(one)),
    kinds,
  );
  if (errors.length > 0) return { recipients: [], errors: placed(to, kinds) };
  if (!members) return { recipients: [...recipients, ...new Set(to.filter(isGroupId))], errors };
  return readRecipients(
    to.flatMap((one): readonly unknown[] => (isGroupId(one) ? (members.get(one) ?? []) : [one])),
    kinds,
  );
}

/** Errors of addresses, at their positions in the list that includes groups. */
function placed(to: readonly unknown[], kinds: readonly AddressKind[]): FieldError[] {
  const errors: FieldError[] = [];
  to.forEach((one, index) => {
    if (isGroupId(one) || errors.length === 10) return;
    for (const { message } of readRecipients([one], kinds).errors)
      errors.push({ path: `to[${index}]`, message });
  });
  return errors;
}

/**
 * The lane of a tenant's channel: from the `lane` option, else from the channel, else
 * `{tenant}:{channel}`.
 * @throws MessagingConfigError where the function returns no lane name; nothing was stored
 */
function laneOf(
  { name, lane }: ChannelDefinition,
  tenant: string,
  option: SendContext['lane'],
): string {
  if (!option && !lane) return `${tenant}:${name}`;
  const given: unknown = option ? option({ tenant, channel: name }) : lane?.({ tenant });
  if (typeof given === 'string' && NAME.test(given)) return given;
  throw new MessagingConfigError(
    `dispatch.lane: returned no name for tenant '${tenant}' and channel ${name}; return 1 to 255 characters, without control characters`,
  );
}
