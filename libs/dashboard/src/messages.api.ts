import type { ListedMessage, Verification } from '@dundun/messaging';
import type { MessageRecord } from '@dundun/messaging/operations';
import { Inject, Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import type {
  ListAnswer,
  MessageDetail,
  MessageItem,
  MessageMoney,
  RevealAnswer,
  TotalAnswer,
} from './api.js';
import { type ApiCall, csvPiece, TextAnswer } from './api-call.js';
import { unknownId } from './dashboard.error.js';
import { FactsReader } from './facts.js';
import { masked, outlineOf } from './masking.js';
import { MessagingParts } from './messaging-parts.js';
import { Fields, type Given, iso } from './query.js';
import { mayStillLeave } from './repetition.js';
import { timelineOf, waitingOf } from './timeline.js';
import { reasonOf } from './words.js';

/** Most rows of an export, and pages that it reads for them. */
const MOST_ROWS = 10_000;
const MOST_PAGES = 200;

const COLUMNS =
  'id,tenant,channel,recipient,sender,status,error_code,provider,accepted_at,price,price_currency,cost,cost_currency';

/** The page of an e-mail has a policy of its own: it runs and loads nothing. */
const EMAIL_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
};

@Injectable()
export class MessagesApi {
  constructor(
    @Inject(MessagingParts) private readonly parts: MessagingParts,
    @Inject(FactsReader) private readonly facts: FactsReader,
  ) {}

  async list(call: ApiCall, query: Given): Promise<ListAnswer<MessageItem>> {
    const fields = new Fields(query);
    const filter = { ...filterOf(call, fields), limit: fields.limit() };
    fields.done();
    const { data, nextCursor } = await this.parts.history.messages(filter);
    const codes = await this.parts.verification.ofBatches(data.map(({ batchId }) => batchId));
    const moneyOf = await call.moneyOf(data);
    return { data: data.map((one) => itemOf(one, codes, moneyOf(one))), nextCursor };
  }

  /** How many messages match, up to 10,000. */
  async total(call: ApiCall, query: Given): Promise<TotalAnswer> {
    const fields = new Fields(query);
    const { cursor: _none, ...filter } = filterOf(call, fields);
    fields.done();
    return this.parts.history.total(filter);
  }

  async detail(call: ApiCall, id: string): Promise<MessageDetail> {
    const message = await this.#read(call, id);
    const { contacts, messaging, channels, clock } = this.parts;
    const { tenant, recipient, lane, content } = message;
    const contact =
      recipient === ''
        ? undefined
        : await contacts.find(recipient, { tenant }).catch(() => undefined);
    const health =
      message.status === 'queued'
        ? (await messaging.lanes()).find((one) => one.lane === lane)
        : undefined;
    const codes = await this.parts.verification.ofBatches([message.batchId]);
    const verification = codes.get(message.batchId);
    const sendable = channels.find(message.channel)?.irrevocable === undefined;
    const { facts, ...cost } = await this.facts.of(message, {
      isWhole: false,
      isPriced: call.isPriced,
    });
    const moneyOf = await call.moneyOf([message]);
    return {
      ...itemOf(message, codes, moneyOf({ id, ...cost })),
      facts,
      // A rejected request uses up no attempt of the message.
      attempts: Math.max(message.attempts, ...message.submissions.map(({ attempt }) => attempt)),
      providerId: message.providerId,
      parts: message.parts,
      category: message.category,
      sentAt: iso(message.sentAt),
      validUntil: iso(message.validUntil),
      content: outlineOf(content),
      verification: verification
        ? { id: verification.id, expiresAt: iso(verification.expiresAt) }
        : null,
      contactId: contact?.id ?? null,
      timeline: [
        ...timelineOf(message, channels, call.access.operate),
        ...waitingOf(message, health, new Date(clock.now())),
      ],
      canResend:
        call.access.act &&
        sendable &&
        content !== null &&
        recipient !== '' &&
        !mayStillLeave(message),
      canSettle: call.access.act && call.access.operate && sendable && message.status === 'unknown',
    };
  }

  /** Audited before the answer. */
  async reveal(call: ApiCall, id: string): Promise<RevealAnswer> {
    call.require('reveal');
    const message = await this.#read(call, id);
    const { tenant, recipient, content } = message;
    await call.audit({ action: 'message.revealed', tenant, subject: id });
    const { facts } = await this.facts.of(message, { isWhole: true, isPriced: call.isPriced });
    return { recipient, content: content as RevealAnswer['content'], facts };
  }

  /** The html of an e-mail; of a simulated recipient also for callers that only act. */
  async html(call: ApiCall, id: string, isPhone = false): Promise<TextAnswer> {
    if (!isPhone) call.require('reveal');
    const { tenant, content, provider } = await this.#read(call, id);
    if (isPhone && !this.parts.simulators.has(provider ?? '')) throw unknownId('simulated message');
    const { html } = (content ?? {}) as { readonly html?: unknown };
    if (typeof html !== 'string') throw unknownId('e-mail with html');
    if (!isPhone) await call.audit({ action: 'message.revealed', tenant, subject: id });
    return new TextAnswer(html, EMAIL_HEADERS);
  }

  /**
   * CSV of the newest messages that match; whole addresses with `reveal=true`, which is audited for
   * each tenant whose messages the file has.
   */
  async export(call: ApiCall, query: Given): Promise<TextAnswer> {
    const fields = new Fields(query);
    const { cursor: from, ...filter } = filterOf(call, fields);
    const most = fields.limit(MOST_ROWS, MOST_ROWS);
    const whole = fields.flag('reveal');
    fields.done();
    if (whole) call.require('reveal');
    const rows: ListedMessage[] = [];
    const money: MessageMoney[] = [];
    let cursor: string | null | undefined = from;
    for (let page = 0; page < MOST_PAGES && cursor !== null && rows.length < most; page++) {
      const { data, nextCursor } = await this.parts.history.messages({
        ...filter,
        limit: Math.min(1_000, most - rows.length),
        ...(cursor !== undefined && { cursor }),
      });
      rows.push(...data);
      money.push(...data.map(await call.moneyOf(data)));
      cursor = nextCursor;
      // On SQLite nothing else here waits.
      await turn();
    }
    const exported = whole ? new Set(rows.map(({ tenant }) => tenant)) : [];
    for (const tenant of exported)
      await call.audit({ action: 'messages.exported', tenant, subject: null });
    const lines = rows.map((message, n) => {
      const { id, tenant, channel, sender, status, errorCode, provider, acceptedAt } = message;
      const recipient = whole ? message.recipient : masked(message.recipient);
      const { price, priceCurrency, cost, currency } = money[n] as MessageMoney;
      return [
        id,
        tenant,
        channel,
        recipient,
        sender,
        status,
        errorCode,
        provider,
        iso(acceptedAt),
        price,
        priceCurrency,
        cost,
        currency,
      ];
    });
    return csvPiece('messages', [COLUMNS.split(','), ...lines], cursor);
  }

  #read(call: ApiCall, id: string): Promise<MessageRecord> {
    return this.parts.history.message(id, { tenants: call.access.tenants });
  }
}

function filterOf(call: ApiCall, fields: Fields) {
  const status = fields.text('status', 32);
  const subject = fields.text('subject', 100);
  // A search must not tell what the list masks.
  if (subject !== undefined) call.require('reveal');
  return {
    tenants: call.tenantsOf(fields.text('tenant', 255)),
    channel: fields.text('channel', 16),
    status,
    to: fields.text('to'),
    from: fields.text('from'),
    reference: fields.text('reference', 255),
    tag: fields.text('tag', 64),
    provider: fields.text('provider', 32),
    errorCode: fields.text('error', 255),
    toPart: fields.text('toPart', 15),
    toPartOf: call.access.reveal ? ('whole' as const) : ('shown' as const),
    country: fields.text('country', 2),
    subject,
    since: fields.time('since'),
    until: fields.time('until'),
    cursor: fields.text('cursor', 600),
  };
}

function itemOf(
  message: ListedMessage,
  codes: ReadonlyMap<string, Pick<Verification, 'status'>>,
  money: MessageMoney,
): MessageItem {
  const { errorCode, provider } = message;
  return {
    id: message.id,
    batchId: message.batchId,
    tenant: message.tenant,
    channel: message.channel,
    recipient: masked(message.recipient),
    sender: message.sender,
    status: message.status,
    errorCode,
    deferredUntil: iso(message.deferredUntil),
    reason: errorCode === null ? null : reasonOf(errorCode, provider).title,
    provider,
    tags: message.tags,
    acceptedAt: iso(message.acceptedAt),
    sendAt: iso(message.sendAt),
    code: codes.get(message.batchId)?.status ?? null,
    kind: message.kind,
    template: message.template,
    country: message.country,
    parts: message.parts,
    ...money,
  };
}
