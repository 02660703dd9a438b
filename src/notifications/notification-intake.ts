import {
  MessageValidationError,
  type NewNotification,
  type NotificationReceipt,
  NotificationService,
  NoRouteError,
} from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { isLimited, requireScope } from '../accounts/auth.guard.js';
import { type Principal, spendingOf } from '../accounts/credentials.js';
import { PendingSends } from '../accounts/limits.js';
import {
  type ChannelNotification,
  GatewayChannels,
  type NotificationMessage,
  type NotificationReader,
  NOTIFICATIONS_SCOPE,
} from '../channel.js';
import { ApiError } from '../http/api-error.js';
import { isNotSetUp, notSetUp } from '../http/error-mapping.js';
import { parseTimestamp } from '../http/rfc3339.js';
import { Metrics } from '../metrics/metrics.js';
import type { NotificationFields } from './notifications.dto.js';

/** A notification as the library takes it. */
interface ReadNotification {
  readonly notification: NewNotification;
  readonly to: NotificationFields['to'];
  readonly messages: ReadonlyMap<string, NotificationMessage>;
}

/** Sends notifications of accounts, each message under the rules of its channel. */
@Injectable()
export class NotificationIntake implements OnModuleInit {
  readonly #readers = new Map<string, NotificationReader>();

  constructor(
    private readonly notifications: NotificationService,
    private readonly gateway: GatewayChannels,
    private readonly channels: ChannelRegistry,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
    private readonly modules: ModuleRef,
  ) {}

  async onModuleInit(): Promise<void> {
    for (const { name, notification } of this.gateway.all)
      if (notification) this.#readers.set(name, await this.modules.create(notification.reader));
  }

  /** Whether the credential may send on all of these channels. */
  allows(caller: Principal, via: readonly string[]): boolean {
    return via.every((name) => isAllowed(caller, this.#partOf(name)));
  }

  /** @throws ApiError 401 or 403 where the credential may not send on one of these channels */
  check(caller: Principal, via: readonly string[]): void {
    for (const name of via) {
      const part = this.#partOf(name);
      if (isAllowed(caller, part)) continue;
      if (caller.kind === 'api_key' || part.takesToken) requireScope(caller, part.scope);
      throw new ApiError(
        'unauthorized',
        `The API token does not send on ${name}; use a key with the scopes ${NOTIFICATIONS_SCOPE} and ${part.scope}`,
        { headers: { 'www-authenticate': 'Bearer' } },
      );
    }
  }

  /** Resolves once the notification is durable. @throws ApiError, or an error of the library */
  async send(
    request: NotificationFields,
    caller: Principal,
    idempotencyKey: string | undefined,
  ): Promise<NotificationReceipt> {
    const { notification, to, messages } = await this.#read(request, caller);
    const tenant = caller.accountId;
    const refusal = refusalOf(messages);
    try {
      if (refusal) {
        // The key may belong to a send from before a sender or a template was withdrawn.
        const options = idempotencyKey !== undefined && { tenant, idempotencyKey };
        const first = options && (await this.notifications.replayOf(notification, to, options));
        if (first) return first;
        throw refusal;
      }
      const options = { ...spendingOf(caller), idempotencyKey };
      const receipt = await this.pending.during(1, () =>
        this.notifications.send(notification, to, options),
      );
      // A channel after the first is counted by the event of its fallback.
      const { replayed, channel } = receipt;
      if (!replayed && channel === request.via[0]) this.metrics.accepted(channel, 1);
      return receipt;
    } catch (error) {
      throw inWire(error, messages);
    }
  }

  /** Price and size of the message on each channel. @throws as {@link send} */
  async estimate(
    request: NotificationFields,
    caller: Principal,
  ): Promise<Readonly<Record<string, object>>> {
    const { messages, to } = await this.#read(request, caller);
    const refusal = refusalOf(messages);
    if (refusal) throw refusal;
    const estimates: Record<string, object> = {};
    for (const [name, { message }] of messages) {
      const options = { tenant: caller.accountId, to: this.#addressOf(name, to) };
      try {
        estimates[name] = await this.#reader(name).estimate(message, options);
      } catch (error) {
        throw inWire(withinField(name, error), messages);
      }
    }
    return estimates;
  }

  async #read(request: NotificationFields, caller: Principal): Promise<ReadNotification> {
    const { to, via, fallback, send_at, tags, metadata } = request;
    this.check(caller, via);
    const messages = new Map<string, NotificationMessage>();
    for (const name of via) {
      const { message } = this.#partOf(name);
      const fields: object = Object.assign(new message(), Reflect.get(request, name));
      messages.set(name, await this.#readOne(name, fields, caller.accountId));
    }
    const sendAt = parseTimestamp(send_at);
    const ofChannels = [...messages].map(([name, { message }]) => [name, message] as const);
    const notification: NewNotification = {
      ...Object.fromEntries(ofChannels),
      via,
      ...(fallback && { fallback }),
      ...(sendAt && { sendAt }),
      tags,
      metadata,
    };
    return { notification, to, messages };
  }

  /** @throws ApiError */
  async #readOne(name: string, fields: object, accountId: string): Promise<NotificationMessage> {
    try {
      const read = await this.#reader(name).read(fields, accountId);
      return { ...read, refusal: read.refusal?.within(name) };
    } catch (error) {
      throw error instanceof ApiError ? error.within(name) : error;
    }
  }

  /** The address of the first kind that the channel takes. */
  #addressOf(name: string, to: NotificationFields['to']): string | undefined {
    if (typeof to === 'string') return to;
    const { addressKinds } = this.channels.get(name);
    const addresses = Object.entries(to);
    return addressKinds.flatMap((kind) => addresses.find(([known]) => known === kind) ?? [])[1];
  }

  #partOf(name: string): ChannelNotification {
    const part = this.gateway.find(name)?.notification;
    if (!part) throw new TypeError(`the channel ${name} is in no notification`);
    return part;
  }

  #reader(name: string): NotificationReader {
    const reader = this.#readers.get(name);
    if (!reader) throw new TypeError(`the channel ${name} is in no notification`);
    return reader;
  }
}

function isAllowed(caller: Principal, { scope, takesToken }: ChannelNotification): boolean {
  if (caller.kind === 'api_token' && !takesToken) return false;
  return !isLimited(caller) || caller.scopes.includes(scope);
}

type Messages = ReadNotification['messages'];

function refusalOf(messages: Messages): ApiError | undefined {
  return [...messages.values()].flatMap(({ refusal }) => refusal ?? [])[0];
}

function withinField(name: string, error: unknown): unknown {
  if (!(error instanceof MessageValidationError)) return error;
  const fields = error.fields.map((one) => ({ ...one, path: `${name}.${one.path}` }));
  return new MessageValidationError(fields, error.code);
}

/** With the fields of the interface. */
function inWire(error: unknown, messages: Messages): unknown {
  if (error instanceof NoRouteError && isNotSetUp(error)) return notSetUp(error, error.channel);
  if (!(error instanceof MessageValidationError)) return error;
  const fields = error.fields.map((one) => ({ ...one, path: wirePathOf(one.path, messages) }));
  return new MessageValidationError(fields, error.code);
}

/** Such as `whatsapp.template_name` of `whatsapp.template`. */
function wirePathOf(path: string, messages: Messages): string {
  if (path === 'sendAt') return 'send_at';
  const [, channel = '', field = '', rest = ''] = /^([^.]+)\.([^.[]+)(.*)$/.exec(path) ?? [];
  const own = messages.get(channel)?.fields[field];
  return own === undefined ? path : `${channel}.${own}${rest}`;
}
