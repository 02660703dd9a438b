import {
  addressKey,
  type EmailMessage,
  type MessageContent,
  MessageValidationError,
  readAddress,
  type Receipt,
  type SendOptions,
} from '@dundun/messaging';
import { MessageStatusError } from '@dundun/messaging/operations';
import type { ChannelDefinition } from '@dundun/messaging/ports';
import {
  addressIdentity,
  doubledCharacters,
  isGroupId,
  smsPartEnds,
  smsParts,
  ucs2Characters,
} from '@dundun/messaging/values';
import { Inject, Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import type { EstimateAnswer, SendAnswer, SettleMessageAnswer, SmsTextAnswer } from './api.js';
import type { ApiCall } from './api-call.js';
import type { AuditManager } from './dashboard.options.js';
import { unknownId } from './dashboard.error.js';
import { MessagingParts } from './messaging-parts.js';
import { MAX_RECIPIENTS } from './context.js';
import { Fields, iso } from './query.js';
import { mayStillLeave } from './repetition.js';
import { reasonOf } from './words.js';

/** Recipients whose policies and prices an estimate asks for. */
const MOST_ASKED = 10_000;
const MOST_PRICED = 1_000;
const MOST_INVALID = 100;
/** Characters of a text that is drawn in parts. */
const LONGEST_TEXT = 10_000;
/** Recipients between which other work has a turn. */
const SLICE = 10_000;

interface Content {
  readonly kind: string;
  readonly [field: string]: unknown;
}

interface Cost {
  readonly cost: string | null;
  readonly currency: string | null;
}

interface Request {
  readonly tenant: string;
  readonly definition: ChannelDefinition;
  readonly from: string | undefined;
  readonly to: readonly string[];
  readonly content: Content;
  readonly sendAt: Date | undefined;
  /** Whether the app, or the account of a gateway, hears of each status. */
  readonly deliveryReport: boolean;
  readonly idempotencyKey: string | undefined;
}

/** Sends, estimates and repeats messages, on every channel. */
@Injectable()
export class SendingApi {
  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  async send(call: ApiCall, body: unknown): Promise<SendAnswer> {
    call.require('act');
    const request = this.#requestOf(call, body);
    const { tenant, definition, from, content } = request;
    await call.checkSend({ tenant, channel: definition.name, from, content });
    return this.#accept(request, ({ id: subject }, manager) =>
      call.audit({ action: 'message.sent', tenant, subject }, manager),
    );
  }

  /**
   * The same content to the same recipient, as a new send.
   * @throws MessageStatusError while the message may still leave
   */
  async resend(call: ApiCall, id: string, body: unknown): Promise<SendAnswer> {
    call.require('act');
    const fields = new Fields(body);
    const idempotencyKey = fields.text('idempotencyKey', 255);
    fields.done();
    const request = await this.#repetitionOf(call, id);
    const { tenant } = request;
    return this.#accept({ ...request, idempotencyKey }, (_, manager) =>
      call.audit({ action: 'message.resent', tenant, subject: id }, manager),
    );
  }

  /** Estimate of {@link resend}. */
  async estimateResend(call: ApiCall, id: string): Promise<EstimateAnswer> {
    call.require('act');
    return this.#estimateOf(await this.#repetitionOf(call, id));
  }

  /** Records what became of a message that is `unknown`. */
  async settle(call: ApiCall, id: string, body: unknown): Promise<SettleMessageAnswer> {
    call.require('act');
    call.require('operate');
    const fields = new Fields(body);
    const status = fields.need('status', 32);
    const note = fields.text('note', 1_000);
    fields.done();
    const { tenants, by } = call.access;
    const { tenant } = await this.parts.history.message(id, { tenants });
    const also = (manager: AuditManager) =>
      call.audit({ action: 'message.settled', tenant, subject: id }, manager);
    const settled = await this.parts.operations.settle(id, status, { tenants, by, note, also });
    return { status: settled.status };
  }

  async #repetitionOf(call: ApiCall, id: string): Promise<Request> {
    const { history, channels } = this.parts;
    const message = await history.message(id, { tenants: call.access.tenants });
    const { tenant, channel, recipient } = message;
    const definition = channels.find(channel);
    if (!definition || recipient === '' || message.content === null)
      throw unknownId('message with its content and recipient');
    if (mayStillLeave(message))
      throw new MessageStatusError(id, message.status, 'it may still leave: wait for its end');
    const content = message.content as Content;
    const { sender, deliveryReport } = await history.batch(message.batchId);
    const from = sender || undefined;
    await call.checkSend({ tenant, channel, from, content });
    const again = { tenant, definition, from, to: [recipient], content, deliveryReport };
    return { ...again, sendAt: undefined, idempotencyKey: undefined };
  }

  async estimate(call: ApiCall, body: unknown): Promise<EstimateAnswer> {
    call.require('act');
    const request = this.#requestOf(call, body);
    const { tenant, definition, from, content } = request;
    await call.checkSend({ tenant, channel: definition.name, from, content });
    return this.#estimateOf(request);
  }

  /** How an SMS with a text is split. */
  text(call: ApiCall, body: unknown): SmsTextAnswer {
    call.require('act');
    const fields = new Fields(body);
    const text = fields.text('text', LONGEST_TEXT) ?? '';
    fields.done();
    const { encoding, units } = smsParts(text);
    const ends = smsPartEnds(text);
    const [whole, part] = encoding === 'GSM-7' ? [160, 153] : [70, 67];
    const last = text.slice(ends.at(-2) ?? 0);
    const used = encoding === 'GSM-7' ? smsParts(last).units : last.length;
    return {
      encoding,
      units,
      left: (ends.length === 1 ? whole : part) - used,
      ends,
      ucs2: ucs2Characters(text),
      doubled: encoding === 'GSM-7' ? doubledCharacters(text) : [],
    };
  }

  async #estimateOf(request: Request): Promise<EstimateAnswer> {
    const { definition, to, content } = request;
    const { addresses, duplicates, invalid } = await this.#recipientsOf(request);
    const cost = await this.#costOf(request, addresses[0]);
    const denied = await this.#deniedOf(request, addresses.slice(0, MOST_ASKED));
    const reasons = new Map<string, number>();
    for (const code of denied.values()) reasons.set(code, (reasons.get(code) ?? 0) + 1);
    const allowed = addresses.filter((address) => !denied.has(address));
    return {
      given: to.length,
      duplicates,
      invalid,
      recipients: addresses.length,
      denied: [...reasons].map(([reason, recipients]) => {
        return { reason, title: reasonOf(reason, null).title, recipients };
      }),
      allowed: allowed.length,
      parts: partsOf(definition, content),
      unitCost: cost.cost,
      totalCost: await this.#totalOf(request, allowed),
      currency: cost.currency,
    };
  }

  #accept(
    request: Request,
    also: (receipt: Receipt, manager: AuditManager) => Promise<void>,
  ): Promise<SendAnswer> {
    const { tenant, definition, idempotencyKey } = request;
    return this.parts.messaging.transaction(async (manager) => {
      const options = { tenant, manager, ...(idempotencyKey !== undefined && { idempotencyKey }) };
      const receipt = await (FORMS[definition.name] ?? CONTENT).send(this.parts, request, options);
      await also(receipt, manager);
      return answerOf(receipt);
    });
  }

  /** With the members of groups, which are known here where the channel expands them. */
  async #recipientsOf({ tenant, definition, to }: Request) {
    const { addressKinds, groups, maxRecipients: most = MAX_RECIPIENTS } = definition;
    /** By their identities, of which a send has one message each. */
    const addresses = new Map<string, string>();
    const add = (key: string): void => {
      const identity = addressIdentity(key);
      if (!addresses.has(identity)) addresses.set(identity, key);
    };
    const named = new Map<string, string>();
    const invalid: { path: string; message: string }[] = [];
    let valid = 0;
    for (const [index, entry] of to.entries()) {
      if (index % SLICE === SLICE - 1) await turn();
      const path = `to[${index}]`;
      if (groups && isGroupId(entry)) {
        if (groups === 'expand') named.set(entry, path);
        continue;
      }
      const address = readAddress(entry, addressKinds);
      if (address) {
        valid++;
        add(addressKey(address));
      } else if (invalid.length < MOST_INVALID)
        invalid.push({ path, message: `must be an address: ${RULES[addressKinds[0]]}` });
    }
    const members =
      named.size === 0
        ? []
        : await this.parts.contacts.groups.addressesOf(named, {
            tenant,
            most,
            kinds: addressKinds,
          });
    for (const member of members) add(member);
    const duplicates = valid + members.length - addresses.size;
    return { addresses: [...addresses.values()], duplicates, invalid };
  }

  /** @throws MessageValidationError for a wrong content */
  #costOf(request: Request, to?: string): Promise<Cost> {
    const options = { tenant: request.tenant, ...(to !== undefined && { to }) };
    return (FORMS[request.definition.name] ?? CONTENT).estimate(this.parts, request, options);
  }

  /** Codes of the policies that deny recipients now. */
  async #deniedOf({ tenant, definition, from = '', content }: Request, to: readonly string[]) {
    const denied = new Map<string, string>();
    if (to.length === 0) return denied;
    const explained = await this.parts.policy.explain({
      channel: definition.name,
      tenant,
      from,
      to,
      content: content as MessageContent,
    });
    for (const { recipient, decisions } of explained) {
      const first = decisions.find(({ decision }) => decision === 'deny');
      if (first?.decision === 'deny') denied.set(addressKey(recipient), first.code);
    }
    return denied;
  }

  /** `null`: one has no price, or there are too many to ask for each. */
  async #totalOf(request: Request, allowed: readonly string[]): Promise<string | null> {
    if (allowed.length === 0 || allowed.length > MOST_PRICED) return null;
    const amounts: string[] = [];
    const currencies = new Set<string | null>();
    for (const address of allowed) {
      const { cost, currency } = await this.#costOf(request, address);
      if (cost === null) return null;
      amounts.push(cost);
      currencies.add(currency);
    }
    return currencies.size === 1 ? addedUp(amounts) : null;
  }

  #requestOf(call: ApiCall, body: unknown): Request {
    const fields = new Fields(body);
    const tenant = call.tenantOf(fields.text('tenant', 255));
    const channel = fields.need('channel', 16);
    const definition = this.parts.channels.find(channel);
    if (!definition)
      fields.refuse('channel', `must be one of ${this.parts.channels.names.join(', ')}`);
    const to = fields.list('to').filter((entry, index): entry is string => {
      if (typeof entry === 'string') return true;
      fields.refuse(`to[${index}]`, 'must be a text');
      return false;
    });
    const content = fields.object('content');
    if (content && typeof content['kind'] !== 'string') fields.refuse('content.kind', 'is missing');
    const request = {
      tenant,
      from: fields.text('from'),
      to,
      content: content as Content,
      sendAt: fields.time('sendAt'),
      deliveryReport: true,
      idempotencyKey: fields.text('idempotencyKey', 255),
    };
    fields.done();
    return { ...request, definition: definition as ChannelDefinition };
  }
}

/** How messages of a channel are given to its service. */
interface MessageForm {
  send(parts: MessagingParts, request: Request, options: SendOptions): Promise<Receipt>;
  estimate(parts: MessagingParts, request: Request, options: EstimateOptions): Promise<Cost>;
}

type EstimateOptions = Pick<Request, 'tenant'> & { readonly to?: string };

const CONTENT: MessageForm = {
  send: ({ messaging }, { definition, from, to, content, sendAt, deliveryReport }, options) =>
    messaging
      .channel(definition.name)
      .send(
        { from, to: [...to], content: content as MessageContent, sendAt, deliveryReport },
        options,
      ),
  estimate: ({ messaging }, { definition, content }, options) =>
    messaging.channel(definition.name).estimate(content as MessageContent, options),
};

/** Forms of channels whose service checks more than a content, such as the variables of an email. */
const FORMS: Readonly<Record<string, MessageForm>> = {
  email: {
    send: ({ email }, { from, to, content, sendAt }, options) =>
      email.send({ ...emailOf(content, from), recipients: [...to], sendAt }, options),
    estimate: ({ email }, { from, content }, options) =>
      email.estimate(
        { ...emailOf(content, from), to: options.to ?? 'recipient@example.com' },
        options,
      ),
  },
};

/** Fields of an email in `content`, which name its sender too. */
function emailOf(content: Content, from: string | undefined): EmailMessage {
  const { kind: _kind, to: _to, cc: _cc, from: named, attachments, ...fields } = content;
  if (attachments !== undefined && (attachments as readonly unknown[]).length > 0)
    throw new MessageValidationError([
      { path: 'content.attachments', message: 'are not sent from here; send by the API' },
    ]);
  return { ...fields, from: from ?? named } as unknown as EmailMessage;
}

/** Parts of each message; the content was checked before. */
function partsOf({ content: checks }: ChannelDefinition, content: Content): number {
  return checks[content.kind]?.(content, []).parts ?? 0;
}

const RULES = {
  phone: '7 to 15 digits with country code, such as 2348012345678',
  email: 'such as ada@example.com',
  platform: '1 to 255 visible ASCII characters',
} as const;

function answerOf({ id, recipients, createdAt, replayed }: Receipt): SendAnswer {
  return { batchId: id, recipients, createdAt: iso(createdAt), replayed };
}

/** Sum of decimal numbers such as `'0.0125'`, without rounding. */
function addedUp(amounts: readonly string[]): string {
  const places = Math.max(0, ...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));
  const units = amounts.reduce((sum, amount) => {
    const [whole = '0', part = ''] = amount.split('.');
    return sum + BigInt(whole + part.padEnd(places, '0'));
  }, 0n);
  const digits = String(units).padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
