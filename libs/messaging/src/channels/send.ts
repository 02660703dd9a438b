import { hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { laneOf } from '../message/ids.js';
import type { ChannelDefinition, CheckedContent } from '../message/channel-definition.js';
import {
  type FieldError,
  MessageValidationError,
  MessagingConfigError,
  validated,
} from '../message/errors.js';
import type { MessageClass, MessageContent } from '../message/message.js';
import type { StatsOptions } from '../message/views.js';
import {
  readRecipients,
  type ReadRecipients,
  RecipientReader,
  type Recipients,
  ruleOf,
} from '../message/address.js';
import { checkLabels, type LabelledMessage } from './labels.js';
import type { Clock } from '../ports/clock.js';
import { type Duration, readDuration } from '../ports/option-schema.js';
import type { MessagingSettings } from '../ports/messaging-settings.js';
import type { Router } from '../routing/router.js';
import type { KeyedDigests } from '../store/rows/keyed-digests.js';
import type { NewBatch } from '../store/rows/new-batch.js';

export interface SendOptions {
  /** Joins this transaction of the module's data source: the send commits or rolls back with it. */
  readonly manager?: EntityManager;
  /** Tenant of the message. @default '' */
  readonly tenant?: string;
  /** At most 255 visible ASCII characters. The same key and content return the first batch. */
  readonly idempotencyKey?: string;
  /** @default 'normal' */
  readonly class?: MessageClass;
  /** Longest time from due to start; after it the message is `expired`. @default unlimited */
  readonly validFor?: Duration;
  /** The part of the tenant that spends, such as the id of its key, for the app's spend guard. @default none */
  readonly spender?: string | undefined;
}

/** Result of a send, once the batch is durable (or part of the caller's transaction). */
export interface Receipt {
  /** UUIDv7 of the batch; `reference_id` in the HTTP interface of a Dundun gateway. */
  readonly id: string;
  /** Number of unique recipients. */
  readonly recipients: number;
  readonly createdAt: Date;
  /** The idempotency key was used before: this is the batch of the first send. */
  readonly replayed: boolean;
}

export interface ChannelMessage extends LabelledMessage {
  /** Sender; the channel's definition checks it. */
  readonly from?: string | undefined;
  /** Addresses, and group ids where the channel has groups; a phone number in any usual form. */
  readonly to: Recipients;
  readonly content: MessageContent | ContentInput;
  /** Ask the provider for a callback per status change. @default the channel's, `true` */
  readonly deliveryReport?: boolean | undefined;
  /** Earliest time of sending; a past time means at once. */
  readonly sendAt?: Date | undefined;
}

/** Content as given by the caller; the channel's definition checks it by its kind. */
export interface ContentInput {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The argument, if it is an object. @throws MessageValidationError */
export function given<T extends object>(argument: T, path = 'message'): T {
  if (typeof argument !== 'object' || argument === null)
    throw new MessageValidationError([
      { path, message: 'must be an object with the fields of the message' },
    ]);
  return argument;
}

/** One of several messages that are sent under one idempotency key. */
export interface Part {
  readonly index: number;
  readonly count: number;
}

export interface LibraryMessage extends Omit<ChannelMessage, 'from'> {
  /** As the caller gave it; the channel's definition checks it. */
  readonly from?: unknown;
  readonly part?: Part | undefined;
  /** The content has a code: views and lists never show it. */
  readonly secret?: true | undefined;
  /** The message confirms this opt-out and bypasses it. */
  readonly confirms?: 'opted_out' | undefined;
  /**
   * Reads the recipients from fields of the channel's own; yields between slices of many.
   * @default they are in `to`
   */
  readonly recipientsOf?: (() => Generator<void, ReadRecipients>) | undefined;
}

export interface CheckedSend {
  /** Groups are still among its recipients; its idempotency key covers them as given. */
  readonly batch: NewBatch;
  /** The path of each group among the recipients. */
  readonly groups: ReadonlyMap<string, string>;
  /** The batch under the digests of former keys: it may have been accepted under one of them. */
  readonly replays: readonly NewBatch[];
}

/** What every send of a process is checked and made with. */
export interface SendRules {
  readonly clock: Clock;
  /** The option `dispatch.lane`. */
  readonly lane: LaneOption;
  readonly digests: KeyedDigests;
  /** Names the kinds of senders that the provider takes. */
  readonly router: Pick<Router, 'sendersOf'>;
}

/**
 * @param known the recipients that {@link readInSlices} read
 * @throws MessageValidationError naming each wrong field
 */
export function checkedSend(
  channel: ChannelDefinition,
  message: LibraryMessage,
  options: SendOptions,
  { clock, lane: laneOption, digests, router }: SendRules,
  known?: ReadRecipients,
): CheckedSend {
  const { deliveryReport, confirms, secret } = message;
  const { tenant = '', idempotencyKey, spender } = options;
  const kinds = router.sendersOf({ channel: channel.name, tenant });
  const { read, sender, checked, labels, validFor } = validated((errors) => {
    const read = recipientsOf(channel, message, errors, known);
    const sender = (channel.sender ?? anySender)(message.from, errors, kinds);
    const checked = contentOf(channel, message.content, errors);
    if (secret && checked.attachments)
      errors.push({ path: 'content', message: 'must have no attachments beside a one-time code' });
    const labels = checkLabels(message, errors);
    checkTime('sendAt', message.sendAt, errors);
    const validFor = durationOf('validFor', options.validFor, errors);
    const words = { deliveryReport, class: options.class, tenant, idempotencyKey, spender };
    checkWords(words, errors);
    return { read, sender, checked, labels, validFor };
  });
  const { recipients, groups, personal } = read;
  const content: MessageContent =
    confirms && checked.content.kind === 'text'
      ? { ...checked.content, confirms }
      : { ...checked.content, ...(secret && { secret }) };
  const sendAt = message.sendAt?.getTime() ?? null;
  const batch: NewBatch = {
    id: clock.id(),
    tenant,
    channel: channel.name,
    lane: laneBy(channel.irrevocable ? undefined : laneOption, tenant, channel.name),
    class: options.class ?? 'normal',
    sender,
    content,
    labels,
    deliveryReport: deliveryReport ?? channel.deliveryReport ?? true,
    parts: read.parts ?? checked.parts ?? 0,
    recipients,
    personal,
    hasPersonal: personal && true,
    attachments: checked.attachments,
    denied: [],
    createdAt: clock.now(),
    sendAt,
    validFor,
    idempotencyKey: null,
    fingerprint: null,
    ...(spender !== undefined && { spender }),
  };
  if (idempotencyKey === undefined) return { batch, groups, replays: [] };
  const fingerprints = digests.fingerprints([
    sender,
    // The platform may change a template between a send and its retry.
    content.kind === 'template'
      ? { ...content, category: undefined, paramNames: undefined }
      : content,
    // The words of former versions, so that a retry after an upgrade finds its first send.
    deliveryReport === undefined ? null : deliveryReport ? 'yes' : 'none',
    sendAt,
    options.class ?? null,
    options.validFor ?? null,
    recipients,
    ...(personal ? [personal] : []),
    ...(labels ? [labels] : []),
    ...(message.part ? [message.part.count] : []),
  ]);
  const [current = batch, ...replays] = digests
    .ofIdempotencyKey(keyOf(idempotencyKey, message.part))
    .map((key, n) => ({ ...batch, idempotencyKey: key, fingerprint: fingerprints[n] as string }));
  return { batch: current, groups, replays };
}

/** The parts of a send have keys of their own, which no caller gives. */
function keyOf(idempotencyKey: string, part: Part | undefined): string {
  return part ? `${hash('sha256', idempotencyKey, 'hex')} ${part.index}` : idempotencyKey;
}

const WORDS = [
  { path: 'deliveryReport', fits: isFlag, rule: 'must be true or false' },
  { path: 'class', fits: textOf(/^(?:high|normal)$/), rule: "must be 'high' or 'normal'" },
  {
    path: 'tenant',
    fits: textOf(/^[\x20-\x7e]{0,200}$/),
    rule: 'must be at most 200 ASCII characters',
  },
  {
    path: 'idempotencyKey',
    fits: textOf(/^[\x21-\x7e]{1,255}$/),
    rule: 'must be 1 to 255 visible ASCII characters',
  },
  {
    path: 'spender',
    fits: textOf(/^[\x21-\x7e]{1,64}$/),
    rule: 'must be 1 to 64 visible ASCII characters',
  },
] as const;

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
}

function textOf(form: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && form.test(value);
}

/** Adds an error for each value that is neither undefined nor of its form. */
export function checkWords(
  given: Readonly<Partial<Record<(typeof WORDS)[number]['path'], unknown>>>,
  errors: FieldError[],
): void {
  for (const { path, fits, rule } of WORDS) {
    const value = given[path];
    if (value !== undefined && !fits(value)) errors.push({ path, message: rule });
  }
}

/** In milliseconds; adds an error unless it is undefined or a duration. */
export function durationOf(
  path: string,
  given: Duration | undefined,
  errors: FieldError[],
): number | null {
  const duration = given === undefined ? null : readDuration(given);
  if (duration === undefined)
    errors.push({ path, message: "must be a duration such as '30s', '10m' or milliseconds" });
  return duration ?? null;
}

export function checkCount(count: number, most: number, errors: FieldError[], path = 'to'): void {
  if (count === 0) errors.push({ path, message: 'must name at least one recipient' });
  if (count > most) errors.push({ path, message: `must name at most ${most} recipients` });
}

/** Adds an error unless `time` is undefined or in the years 1970 to 9999, as the store needs. */
export function checkTime(path: string, time: unknown, errors: FieldError[]): void {
  if (time === undefined) return;
  const at = time instanceof Date ? time.getTime() : Number.NaN;
  if (!(at >= 0 && at < 253_402_300_800_000))
    errors.push({ path, message: 'must be a valid date' });
}

/** An age, or a time, as a time. */
export function timeOf(
  path: string,
  given: Duration | Date | undefined,
  now: number,
  errors: FieldError[],
): Date | undefined {
  if (given === undefined) return undefined;
  if (given instanceof Date) {
    checkTime(path, given, errors);
    return given;
  }
  const age = durationOf(path, given, errors);
  return new Date(Math.max(0, now - (age ?? 0)));
}

const INTERVAL = { hour: 3_600_000, day: 86_400_000 } as const;

/** @param most intervals @throws MessageValidationError for a period without a length, or too long a one */
export function periodOf<T extends Pick<StatsOptions, 'since' | 'until'> & Partial<StatsOptions>>(
  options: T,
  now: number,
  most = Infinity,
): T & { readonly until: Date } {
  const { since, until = new Date(now), interval } = options;
  validated((errors) => {
    checkTime('since', since, errors);
    checkTime('until', until, errors);
    if (errors.length > 0) return;
    if (until <= since) errors.push({ path: 'until', message: 'must be after since' });
    if (interval && (until.getTime() - since.getTime()) / INTERVAL[interval] > most)
      errors.push({ path: 'since', message: `must be at most ${most} intervals ago` });
  });
  return { ...options, until };
}

export function isWithin(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** Most recipients of a send, where the channel does not say. */
export const MAX_RECIPIENTS = 100_000;

/** Text that the store can hold and logs can show. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** Most recipients that are handled in one turn of the event loop. */
const SLICE = 10_000;

/** Whether other work gets turns between the steps of such a send. */
export function isLarge(to: unknown): to is readonly unknown[] {
  return Array.isArray(to) && to.length > SLICE;
}

/**
 * Reads the recipients of a large send, and those in fields of the channel's own, in slices; too
 * large a list not to its end. @returns `undefined` where {@link checkedSend} reads them
 */
export function readInSlices(
  channel: ChannelDefinition,
  { to, recipientsOf }: LibraryMessage,
): Promise<ReadRecipients> | undefined {
  if (recipientsOf) return inTurns(recipientsOf());
  return isLarge(to) ? readLarge(channel, to) : undefined;
}

async function readLarge(
  { addressKinds, maxRecipients = MAX_RECIPIENTS, groups }: ChannelDefinition,
  to: readonly unknown[],
): Promise<ReadRecipients> {
  const list = [...to];
  const reader = new RecipientReader(addressKinds, groups !== undefined);
  for (let from = 0; from < list.length && reader.size <= maxRecipients; from += SLICE) {
    await turn();
    reader.add(list.slice(from, from + SLICE));
  }
  return reader.result;
}

/** Other work gets a turn at each `yield`. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await turn();
  }
}

function recipientsOf(
  { addressKinds, maxRecipients = MAX_RECIPIENTS, groups }: ChannelDefinition,
  { to, recipientsOf: own }: LibraryMessage,
  errors: FieldError[],
  known: ReadRecipients | undefined,
): ReadRecipients {
  if (own && known) {
    errors.push(...known.errors);
    return known;
  }
  if (to === undefined || to === null) {
    errors.push({ path: 'to', message: 'is missing' });
    return { recipients: [], groups: new Map(), errors: [] };
  }
  const list: readonly unknown[] = Array.isArray(to) ? to : [to];
  if (maxRecipients === 1 && list.length !== 1) {
    errors.push({ path: 'to', message: ruleOf(addressKinds) });
    return { recipients: [], groups: new Map(), errors: [] };
  }
  const read = known ?? readRecipients(list, addressKinds, groups !== undefined);
  for (const { path, message } of read.errors)
    errors.push({ path: maxRecipients === 1 ? 'to' : path, message });
  if (read.errors.length === 0) checkCount(read.recipients.length, maxRecipients, errors);
  return read;
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

export function contentOf(
  channel: ChannelDefinition,
  given: ChannelMessage['content'],
  errors: FieldError[],
): CheckedContent {
  const kind: unknown = (given as Partial<ContentInput> | undefined)?.kind;
  const isKnown = typeof kind === 'string' && Object.hasOwn(channel.content, kind);
  const check = isKnown && channel.content[kind];
  if (check) return check(given as ContentInput, errors);
  const kinds = Object.keys(channel.content).join(', ');
  errors.push({ path: 'content.kind', message: `must be one of ${kinds}` });
  return { content: given as MessageContent };
}

type LaneOption = MessagingSettings['dispatch']['lane'];

/** @throws MessagingConfigError where the option returns no lane name */
function laneBy(option: LaneOption, tenant: string, channel: string): string {
  if (!option) return laneOf(tenant, channel);
  const lane: unknown = option({ tenant, channel });
  if (typeof lane === 'string' && NAME.test(lane)) return lane;
  throw new MessagingConfigError(
    `dispatch.lane: returned no name for tenant '${tenant}' and channel ${channel}; return 1 to 255 characters, without control characters`,
  );
}
