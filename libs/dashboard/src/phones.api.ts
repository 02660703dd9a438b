import { addressKey, type CallFacts, type ListedMessage, readAddress } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { InboxEmail, Phone, PhoneMessage, PhonesAnswer } from './api.js';
import type { ApiCall } from './api-call.js';
import { DashboardError, unknownId } from './dashboard.error.js';
import { textOf } from './masking.js';
import { MessagingParts } from './messaging-parts.js';
import { Fields, type Given, iso } from './query.js';

const WINDOW = 86_400_000;
/** Newest messages that the phones show, of each direction. */
const SHOWN = 200;
const MOST_TEXT = 4_096;

interface Timed extends PhoneMessage {
  readonly time: number;
}

/** Phones and an inbox of simulated recipients. */
@Injectable()
export class PhonesApi {
  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  async phones(call: ApiCall, query: Given): Promise<PhonesAnswer> {
    const simulators = this.#simulators(call);
    const fields = new Fields(query);
    const tenants = call.tenantsOf(fields.text('tenant', 255));
    fields.done();
    const { history } = this.parts;
    const { data } = await history.messages({ tenants, limit: SHOWN });
    const sent = data.filter(
      ({ provider, recipient }) => recipient !== '' && simulators.has(provider ?? ''),
    );
    // Those that people wrote to other providers are for callers that may reveal.
    const received = (await history.inbound({ tenants, limit: SHOWN })).filter(({ provider }) =>
      simulators.has(provider ?? ''),
    );
    // Only the simulated recipient gets the codes of its messages.
    const contents = await history.contents(
      sent.map(({ id }) => id),
      { codes: true },
    );
    const calls = sent.filter(({ channel }) => this.#kindOf(channel) === 'call');
    const facts = await this.parts.voice.facts(calls);
    const phones = new Map<string, Omit<Phone, 'messages'> & { readonly messages: Timed[] }>();
    const phoneOf = (tenant: string, channel: string, number: string) => {
      const key = `${tenant} ${channel} ${number}`;
      const known = phones.get(key) ?? {
        tenant,
        channel,
        number,
        messages: [],
        canReply: this.#kindOf(channel) === 'message',
        windowEndsAt: null,
      };
      phones.set(key, known);
      return known;
    };
    const inbox: InboxEmail[] = [];
    for (const message of sent) {
      const content = contents.get(message.id) ?? null;
      const kind = this.#kindOf(message.channel);
      if (content?.kind === 'email' || message.recipient.includes('@'))
        inbox.push(emailOf(message, content));
      else
        phoneOf(message.tenant, message.channel, message.recipient).messages.push({
          time: message.acceptedAt.getTime(),
          id: message.id,
          direction: 'in',
          sender:
            kind === 'order'
              ? 'Operator'
              : (simulators.get(message.provider ?? '')?.senderOf(message.sender) ??
                message.sender),
          at: iso(message.acceptedAt),
          text: textOf(content),
          kind,
          note: noteOf(facts.get(message.id)),
          status: message.status,
        });
    }
    for (const { id, tenant, channel, from, to, text, receivedAt } of received) {
      if (from.includes('@')) continue;
      phoneOf(tenant, channel, from).messages.push({
        time: receivedAt.getTime(),
        id,
        direction: 'out',
        sender: to,
        at: iso(receivedAt),
        text,
        kind: 'message',
        note: null,
        status: null,
      });
    }
    return {
      phones: [...phones.values()]
        .map(({ messages, ...phone }) => {
          const ordered = messages.toSorted((one, other) => one.time - other.time);
          return { phone, ordered, newest: ordered.at(-1)?.time ?? 0 };
        })
        .toSorted((one, other) => other.newest - one.newest)
        .map(({ phone, ordered }) => ({
          ...phone,
          messages: ordered.map(({ time: _time, ...message }) => message),
          windowEndsAt: this.#windowOf(phone.channel, ordered),
        })),
      inbox,
    };
  }

  /** The answer of a simulated recipient, as its provider would call back. */
  async reply(call: ApiCall, body: unknown): Promise<object> {
    this.#simulators(call);
    const fields = new Fields(body);
    const tenant = call.tenantOf(fields.text('tenant', 255));
    const channel = fields.need('channel', 16);
    const from = fields.need('from');
    const to = fields.need('to', 255);
    const text = fields.need('text', MOST_TEXT);
    const definition = this.parts.channels.find(channel);
    if (!definition) fields.refuse('channel', 'must be a channel of this app');
    const sender = readAddress(from, definition?.addressKinds);
    if (!sender) fields.refuse('from', 'must be an address of the channel');
    fields.done();
    const simulator = await this.#simulatorOf(fields, tenant, channel, from);
    await call.audit({ action: 'phone.replied', tenant, subject: null });
    await simulator?.receive({
      messageId: `phone-${randomUUID()}`,
      channel,
      from: sender ? addressKey(sender) : null,
      bsuid: null,
      to,
      text,
      sentAt: null,
      tenant,
    });
    return {};
  }

  /** A report of the simulator about one of its messages. */
  async report(call: ApiCall, body: unknown): Promise<object> {
    const simulators = this.#simulators(call);
    const fields = new Fields(body);
    const id = fields.need('messageId', 64);
    const status = fields.need('status', 32);
    fields.done();
    const message = await this.parts.history.message(id, { tenants: call.access.tenants });
    const { tenant, channel, provider, submissionId, recipient } = message;
    const simulator = simulators.get(provider ?? '');
    if (!simulator || submissionId === null || recipient === '')
      throw unknownId('message of the simulator');
    const { channels } = this.parts;
    const known = channels.statusesOf(channel).find(([name]) => name === status)?.[1];
    const isEvent = channels.find(channel)?.events?.includes(status) ?? false;
    if (!known?.reported && !isEvent) {
      const names = channels.statusesOf(channel).filter(([, { reported }]) => reported);
      const listed = names.map(([name]) => name).join(', ');
      fields.refuse('status', `must be an event of the channel, or one of ${listed}`);
      fields.done();
    }
    await call.audit({ action: 'phone.reported', tenant, subject: id });
    await simulator.report(submissionId, recipient, { status, rawStatus: status });
    return {};
  }

  /**
   * The simulator that a phone writes to. Where another provider carries the channel, too, the phone is only
   * simulated if the tenant's newest message to it went to a simulator: else the reply would be in the name of a person.
   * @throws DashboardError 422
   */
  async #simulatorOf(fields: Fields, tenant: string, channel: string, from: string) {
    const { simulators, history } = this.parts;
    const carriers = this.parts.carriersOf(channel);
    const [only] = carriers;
    if (!carriers.some((name) => simulators.has(name)))
      fields.refuse('channel', 'must be a channel that a simulator carries');
    fields.done();
    if (carriers.every((name) => simulators.has(name))) return simulators.get(only ?? '');
    const filter = { tenants: [tenant], channel, to: from, limit: 1 };
    const [newest] = (await history.messages(filter)).data;
    const simulator = simulators.get(newest?.provider ?? '');
    if (!simulator)
      fields.refuse(
        'from',
        'must be a phone whose newest message on the channel went to a simulator: another provider carries the channel, too',
      );
    fields.done();
    return simulator;
  }

  #simulators(call: ApiCall) {
    const { simulators } = this.parts;
    if (simulators.size === 0)
      throw new DashboardError(404, 'not_found', 'No provider of this app is the simulator');
    call.require('act');
    return simulators;
  }

  #kindOf(channel: string): PhoneMessage['kind'] {
    const { call, order } = this.parts.channels.find(channel)?.wire ?? {};
    return call ? 'call' : order ? 'order' : 'message';
  }

  #windowOf(channel: string, messages: readonly Timed[]): string | null {
    const last = messages.findLast(({ direction }) => direction === 'out');
    const hasWindow = this.parts.channels.find(channel)?.consent?.serviceWindow ?? false;
    return last && hasWindow ? iso(new Date(last.time + WINDOW)) : null;
  }
}

/** Action of the phone's owner in a call. */
function noteOf(facts: CallFacts | undefined): string | null {
  if (!facts) return null;
  const { answeredAt, answeredBy, duration, digits, attempts } = facts;
  const parts = [
    answeredAt && (answeredBy === 'machine' ? 'answered by a machine' : 'answered'),
    duration && `${duration} s`,
    digits && `pressed ${digits}`,
    attempts > 1 && `dialled ${attempts} times`,
  ];
  return parts.filter(Boolean).join(', ') || null;
}

function emailOf(message: ListedMessage, content: object | null): InboxEmail {
  const { subject, text, html } = (content ?? {}) as Readonly<Record<string, unknown>>;
  return {
    id: message.id,
    channel: message.channel,
    tenant: message.tenant,
    to: message.recipient,
    from: message.sender,
    subject: typeof subject === 'string' ? subject : '',
    text: typeof text === 'string' ? text : null,
    hasHtml: typeof html === 'string',
    at: iso(message.acceptedAt),
    status: message.status,
  };
}
