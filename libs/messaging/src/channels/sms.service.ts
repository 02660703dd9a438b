import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ContactsService } from '../contacts/contacts.service.js';
import type { AcceptedBatch } from '../ledger/acceptance.js';
import type { BatchScope } from '../ledger/batches.js';
import { Ledger } from '../ledger/ledger.js';
import type { Sql } from '../ledger/ledger-database.js';
import type { NewBatch } from '../ledger/new-batch.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import type { SmsMessage, TextContent } from '../message/message.js';
import { type SmsParts, smsParts, ucs2Characters } from '../message/sms-parts.js';
import type {
  BatchView,
  MessageTimeline,
  MessageView,
  Page,
  ReportFilter,
  ReportView,
} from '../message/views.js';
import { PolicyError } from '../policy/policy-error.js';
import { PolicyPipeline } from '../policy/policy-pipeline.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { milliseconds } from '../ports/duration.js';
import { LANE_WAKER, type LaneWaker } from '../ports/lane-waker.js';
import { MESSAGING_OPTIONS, type MessagingOptions } from '../ports/messaging-options.js';
import { admit } from './admission.js';
import { expandRecipients, keepGroups, lookUpGroups } from './group-recipients.js';
import type { Receipt } from './receipt.js';
import type { SendOptions } from './send-options.js';

const SENDER = /^(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 ]{0,9}[A-Za-z0-9])?$/;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const TENANT = /^[\x20-\x7e]{0,200}$/;

/** Whose batches. */
export interface TenantOption {
  /** @default '' */
  readonly tenant?: string;
}

export interface ListOptions extends TenantOption {
  readonly cursor?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}

/**
 * Sends SMS and follows them.
 *
 * @example
 * const { id } = await sms.send({ from: 'ACME', to: '+234 801 234 5678', body: 'Hello' });
 * const { counts } = await sms.batch(id); // { delivered: 1 }
 */
@Injectable()
export class SmsService {
  constructor(
    @Inject(Ledger) private readonly ledger: Ledger,
    @Inject(LANE_WAKER) private readonly waker: LaneWaker,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(MESSAGING_OPTIONS) private readonly options: MessagingOptions,
    @Inject(PolicyPipeline) private readonly policy: PolicyPipeline,
    @Inject(ContactsService) private readonly contacts: ContactsService,
  ) {}

  /**
   * Accepts a message for one or many recipients. Resolves once it is durable, or, with `manager`, once
   * it is part of that transaction; what happens then is told by status, event and report.
   *
   * @throws MessageValidationError naming each wrong field; nothing was stored
   * @throws PolicyError where policy denies every recipient; nothing was stored. Where it denies some,
   *   theirs are `rejected` messages with the code
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws TransactionRequiredError where `manager` is in no transaction of the module's data source
   */
  async send(message: SmsMessage, options: SendOptions = {}): Promise<Receipt> {
    const { manager } = options;
    const tx = manager && this.ledger.database.join(manager);
    const members = await this.#members(message, options, tx);
    const wanted = this.#batchOf(message, options, members);
    const batch = await admit(this.policy, wanted, contentOf(message), tx);
    if (batch instanceof PolicyError) {
      const first = await this.ledger.acceptance.replayOf(wanted, tx ?? this.ledger.database);
      if (first) return receiptOf(first);
      throw batch;
    }
    const due = batch.sendAt !== null && batch.sendAt > batch.createdAt ? batch.sendAt : undefined;
    if (!tx) {
      const accepted = await this.ledger.acceptance.accept(batch);
      if (!accepted.replayed) this.waker.wake(batch.lane, due);
      return receiptOf(accepted);
    }
    const accepted = await this.ledger.acceptance.acceptWithin(tx, batch);
    const { afterCommit, acceptance } = this.ledger;
    const runner = manager!.queryRunner!;
    afterCommit.on(runner, `${batch.lane} ${due ?? ''}`, () => this.waker.wake(batch.lane, due));
    if (accepted.changes.length > 0)
      afterCommit.on(runner, accepted.id, () => acceptance.tell(accepted));
    return receiptOf(accepted);
  }

  /** @throws BatchNotFoundError */
  batch(id: string, options: TenantOption = {}): Promise<BatchView> {
    return this.ledger.batches.find(id, scopeOf(options));
  }

  /** Newest first. */
  async batches(options: ListOptions = {}): Promise<Page<BatchView>> {
    return this.ledger.batches.list(scopeOf(options), pageOf(options));
  }

  /** Every recipient, as accepted. @throws BatchNotFoundError */
  recipients(id: string, options: TenantOption = {}): Promise<string[]> {
    return this.ledger.batches.recipients(id, scopeOf(options));
  }

  /** The messages that have begun, in the order of the batch. @throws BatchNotFoundError */
  async messages(id: string, options: ListOptions = {}): Promise<Page<MessageView>> {
    return this.ledger.batches.messages(id, scopeOf(options), pageOf(options));
  }

  /**
   * One message from its acceptance to its last report.
   * @param id `{batchId}-{position}`, as events and {@link messages} give it
   * @throws MessageNotFoundError
   */
  timeline(id: string, options: TenantOption = {}): Promise<MessageTimeline> {
    return this.ledger.timelines.find(id, scopeOf(options));
  }

  /** Delivery reports, oldest first, whatever `deliveryReport` was. */
  async reports(filter: ReportFilter = {}): Promise<Page<ReportView>> {
    if ((filter.batchIds?.length ?? 0) > 100)
      throw new MessageValidationError([{ path: 'batchIds', message: 'must be at most 100' }]);
    return this.ledger.reportLog.find(scopeOf(filter), { ...filter, ...pageOf(filter) });
  }

  /**
   * Changes when a batch is due, as long as none of it has started.
   * @throws BatchNotFoundError
   * @throws AlreadySentError
   */
  async reschedule(id: string, sendAt: Date, options: TenantOption = {}): Promise<BatchView> {
    if (Number.isNaN(sendAt.getTime()))
      throw new MessageValidationError([{ path: 'sendAt', message: 'must be a valid date' }]);
    const { lane, ...batch } = await this.ledger.batches.reschedule(id, scopeOf(options), sendAt);
    this.waker.wake(lane, sendAt.getTime());
    return batch;
  }

  /**
   * Stops what has not started; what has is followed to its end. Repeatable.
   * @throws BatchNotFoundError
   * @throws AlreadySentError where nothing is left to stop
   */
  cancel(id: string, options: TenantOption = {}): Promise<BatchView> {
    return this.ledger.batches.cancel(id, scopeOf(options));
  }

  /** Encoding and parts of a text, as it would be charged (3GPP TS 23.038). */
  parts(text: string): SmsParts {
    return smsParts(text);
  }

  /** The characters that make a text UCS-2, each once, the first ten; none in GSM-7. */
  ucs2Characters(text: string): string[] {
    return ucs2Characters(text);
  }

  async #members(
    { to }: SmsMessage,
    { tenant = '' }: SendOptions,
    tx: Pick<Sql, 'all'> | undefined,
  ): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
    if (this.options.upstreamGroups) return undefined;
    return lookUpGroups(this.contacts.groups, tx ?? this.ledger.database, tenant, to);
  }

  #batchOf(
    message: SmsMessage,
    options: SendOptions,
    members: ReadonlyMap<string, readonly string[]> | undefined,
  ): NewBatch {
    const { maxRecipients = 100_000, maxParts = 10, deliveryReport = 'yes', lane } = this.options;
    const { upstreamGroups } = this.options;
    const to = typeof message.to === 'string' ? [message.to] : message.to;
    const { recipients, errors } = Array.isArray(to)
      ? upstreamGroups
        ? keepGroups(to)
        : expandRecipients(to, members)
      : {
          recipients: [],
          errors: [{ path: 'to', message: 'must be a phone number or an array of them' }],
        };
    if (errors.length === 0 && recipients.length === 0)
      errors.push({ path: 'to', message: 'must name at least one recipient' });
    if (recipients.length > maxRecipients)
      errors.push({ path: 'to', message: `must name at most ${maxRecipients} recipients` });
    if (typeof message.from !== 'string' || !SENDER.test(message.from))
      errors.push({
        path: 'from',
        message: 'must be 1 to 11 letters, digits and inner spaces, with at least one letter',
      });
    const parts = partsOf(message.body, maxParts, errors);
    checkOptions(message, options, errors);
    if (errors.length > 0) throw new MessageValidationError(errors);
    const tenant = options.tenant ?? '';
    const now = this.clock.now();
    return {
      id: this.clock.id(),
      tenant,
      channel: 'sms',
      lane: lane?.({ tenant, channel: 'sms' }) ?? `${tenant}:sms`,
      class: options.class ?? 'normal',
      sender: message.from,
      content: JSON.stringify(contentOf(message)),
      deliveryReport: (message.deliveryReport ?? deliveryReport) === 'yes',
      parts,
      recipients,
      denied: [],
      createdAt: now,
      sendAt: message.sendAt?.getTime() ?? null,
      validFor: options.validFor === undefined ? null : milliseconds('validFor', options.validFor),
      idempotencyKey: options.idempotencyKey ?? null,
      fingerprint:
        options.idempotencyKey === undefined
          ? null
          : fingerprintOf(message, members ? keepGroups(to).recipients : recipients, options),
    };
  }
}

function partsOf(body: unknown, maxParts: number, errors: FieldError[]): number {
  if (typeof body !== 'string' || body.length === 0 || body.includes('\0')) {
    errors.push({ path: 'body', message: 'must be a text of at least one character, without NUL' });
    return 0;
  }
  const { parts, encoding } = smsParts(body);
  if (parts > maxParts)
    errors.push({
      path: 'body',
      message: `takes ${parts} parts in ${encoding}; shorten it to at most ${maxParts}`,
    });
  return parts;
}

function checkOptions(message: SmsMessage, options: SendOptions, errors: FieldError[]): void {
  if (
    message.sendAt !== undefined &&
    !(message.sendAt instanceof Date && isStorable(message.sendAt))
  )
    errors.push({ path: 'sendAt', message: 'must be a valid date' });
  if (message.deliveryReport !== undefined && !['none', 'yes'].includes(message.deliveryReport))
    errors.push({ path: 'deliveryReport', message: "must be 'none' or 'yes'" });
  if (options.class !== undefined && !['high', 'normal'].includes(options.class))
    errors.push({ path: 'class', message: "must be 'high' or 'normal'" });
  if (options.tenant !== undefined && !TENANT.test(options.tenant))
    errors.push({ path: 'tenant', message: 'must be at most 200 ASCII characters' });
  if (options.idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(options.idempotencyKey))
    errors.push({ path: 'idempotencyKey', message: 'must be 1 to 255 visible ASCII characters' });
}

/** Years 1970 to 9999. */
function isStorable(date: Date): boolean {
  return date.getTime() >= 0 && date.getTime() < 253_402_300_800_000;
}

function contentOf({ body }: SmsMessage): TextContent {
  return { kind: 'text', text: body };
}

function fingerprintOf(
  message: SmsMessage,
  recipients: readonly string[],
  options: SendOptions,
): string {
  const { from, body, deliveryReport = null, sendAt } = message;
  const { validFor = null } = options;
  return createHash('sha256')
    .update(
      JSON.stringify([
        from,
        body,
        deliveryReport,
        sendAt?.getTime() ?? null,
        options.class ?? null,
        validFor,
      ]),
    )
    .update(recipients.join('\n'))
    .digest('hex');
}

function receiptOf({ id, recipients, createdAt, replayed }: AcceptedBatch): Receipt {
  return { id, recipients, createdAt: new Date(createdAt), replayed };
}

function scopeOf({ tenant = '' }: TenantOption): BatchScope {
  return { tenant, channel: 'sms' };
}

function pageOf({ cursor, limit = 100 }: ListOptions): { cursor?: string; limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new MessageValidationError([{ path: 'limit', message: 'must be 1 to 1000' }]);
  return { limit, ...(cursor !== undefined && { cursor }) };
}
