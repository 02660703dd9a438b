import type { MessageStatusChanged, MessagingOptions, NewVerification } from '@dundun/messaging';
import type { ChannelDefinition } from '@dundun/messaging/ports';
import {
  type DynamicModule,
  type INestApplicationContext,
  Module,
  type Type,
} from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { CarrierTypes } from './carriers/carrier-type.js';
import type { Environment } from './config/environment.js';
import type { ApiError, ApiErrorCode } from './http/api-error.js';
import type { CurlForm } from './http/curl-form.js';

/** What a key may do, such as `email:send`; routes require exactly those of their channels. */
export type Scope = `${string}:${string}`;

/** Of a key that reads the balance of its account. */
export const BILLING_SCOPE: Scope = 'billing:read';

/** Of tokens, beside those of channels: what is of no one channel. */
export const INBOUND_SCOPE: Scope = 'inbound:read';
export const WEBHOOKS_SCOPE: Scope = 'webhooks:write';
export const GROUPS_SCOPE: Scope = 'groups:write';

/** Of a key that sends notifications, beside the scope of each of their channels. */
export const NOTIFICATIONS_SCOPE: Scope = 'notifications:send';

/**
 * All that the core of the gateway asks of a channel. `src/channels/index.ts` lists those that it has;
 * a channel with a carrier's variable or with codes stands in their lists, too (docs/changing.md).
 */
export interface GatewayChannel {
  /** As in the library. */
  readonly name: string;
  /** Of a channel that the library lacks; `null`: the library has it. */
  readonly definition: ChannelDefinition | null;
  /** Controllers and services. */
  readonly module: Type;
  /** Tag of its operations in the OpenAPI document. */
  readonly tag: string;
  /** What its operations do, beside the tag. */
  readonly tagDescription: string;
  /** Scopes that its routes require of keys. */
  readonly scopes: readonly Scope[];
  /** Scopes that its routes require of tokens that have scopes. @default none */
  readonly tokenScopes?: readonly Scope[];
  /** Options of the library for this channel. */
  readonly options: (environment: Environment) => Partial<MessagingOptions>;
  /** Prices of its messages that variables give. `undefined`: they give none. */
  readonly prices: (environment: Environment) => ChannelPrices | undefined;
  /** Its prices are those of a minute, with blocks of seconds such as `60/60`. @default false */
  readonly isTimed?: boolean;
  /**
   * What the account of the first start pays for a message, a part or a minute to any recipient, in NGN;
   * by category where they differ. @default '1'
   */
  readonly demoPrice?: string | Readonly<Record<string, string>>;
  /** How the bodies of its routes are read that are not read as every body. @default none */
  readonly bodies?: Readonly<Record<string, RouteBody>>;
  /** Callbacks to the webhooks of accounts; `null`: there are none. */
  readonly callback: ChannelCallback | null;
  /** What accounts register to send from; `null`: nothing. */
  readonly senders: SenderKind | null;
  /** Finds what one-time codes come from; `null`: the channel carries no codes. */
  readonly codes: Type<CodeSenders> | null;
  /** Its messages in notifications over several channels; `null`: it carries none. */
  readonly notification: ChannelNotification | null;
  /** Its requests, for the commands that the portal shows; `null`: it shows none. */
  readonly curl: CurlForm | null;
  /** Types of carriers beside those of `src/carriers`, by the word for each in `CARRIERS_FILE`. */
  readonly carriers: CarrierTypes;
  /** Its part of the account of the first start; `null`: none. */
  readonly demo: ChannelDemo | null;
  /** Adds to each new account what it sends with at once. `null`: nothing. */
  readonly seed: ((manager: EntityManager, of: NewAccount) => Promise<unknown>) | null;
}

/** How the body of a route is read, in what differs from other routes. */
export interface RouteBody {
  /** Most bytes. @default `BODY_LIMIT` */
  readonly bytes?: number;
  /** Most field names of its JSON. */
  readonly fields?: number;
  /** `file`: bytes of any type; `unread`: a form that is not read. @default by its type */
  readonly as?: 'file' | 'unread';
}

/** What an account pays on a channel, from variables. */
export interface ChannelPrices {
  readonly currency: string;
  readonly rates: readonly ChannelRate[];
}

/** The price of a part, a message or a minute, as a rate of a card has it. */
interface ChannelRate {
  readonly prefix: string;
  readonly category: string | null;
  readonly price: string;
  readonly billing: string | null;
}

/** What the senders of a channel have of their own. */
export interface SenderKind {
  /** Such as `sender ID`. */
  readonly noun: string;
  /** What an account may send from. */
  readonly allowed: string;
  /** Their field in errors. */
  readonly field: string;
  /** `undefined`: the sender has the right form. */
  readonly remedy: (sender: string) => string | undefined;
  /** Of a send from another one. */
  readonly error: ApiErrorCode;
  /** How an account gets below the limit. */
  readonly drop: 'delete' | 'remove';
  /** The one that an account sends from where it names none. */
  readonly first: 'by name' | 'oldest';
  /** One account alone may have a sender. */
  readonly isExclusive: boolean;
  /** Words for the portal. */
  readonly words: SenderWords;
  /**
   * Actions of the audit log where an admin asks for senders and an operator approves them; `null`:
   * an operator adds them.
   */
  readonly actions: SenderActions | null;
}

export interface SenderWords {
  /** Such as `Sender IDs`. */
  readonly many: string;
  /** The form of one. */
  readonly hint: string;
  /** Where there is none. */
  readonly empty: string;
  readonly icon: 'at' | 'call';
}

export type SenderActions = Readonly<
  Record<'added' | 'requested' | 'approved' | 'rejected' | 'removed', SenderAction>
>;

/** Those of the audit log. */
type SenderAction =
  | `${'sender' | 'caller'}.${'added' | 'requested' | 'approved' | 'rejected'}`
  | 'sender.deleted'
  | 'caller.removed';

/** Finds what the codes of an account come from; a provider of Nest. */
export interface CodeSenders {
  /** @throws ApiError 422 where the account has none */
  of(accountId: string): Promise<Pick<NewVerification, 'from' | 'template'>>;
}

export interface ChannelNotification {
  /** DTO of its message: the fields of a send without recipients, time and labels. */
  readonly message: Type<object>;
  /** Such a message, for the OpenAPI document. */
  readonly example: object;
  /** DTO of the price and size of such a message. */
  readonly estimate: Type<object>;
  readonly reader: Type<NotificationReader>;
  /** Scope that a key needs beside {@link NOTIFICATIONS_SCOPE}. */
  readonly scope: Scope;
  /** The API token sends on it, too. */
  readonly takesToken: boolean;
}

/** Reads the messages of notifications on a channel; a provider of Nest. */
export interface NotificationReader {
  /** @param request with the fields of the DTO */
  read(request: object, accountId: string): Promise<NotificationMessage>;
  /**
   * Price and size of a message that {@link read} returned.
   * @param options.to address of the recipient @returns the fields of the DTO
   */
  estimate(
    message: object,
    options: { readonly tenant: string; readonly to?: string | undefined },
  ): Promise<object>;
}

export interface NotificationMessage {
  /** As the library takes it. */
  readonly message: object;
  /** Names of the library's fields in the interface, where they differ. */
  readonly fields: Readonly<Record<string, string>>;
  /** Why the account may not send it; `undefined`: it may. */
  readonly refusal: ApiError | undefined;
}

export interface NewAccount {
  readonly accountId: string;
  readonly carriers: Environment['carriers'];
}

/** What the account of the first start sends, and how. */
export interface ChannelDemo {
  /** Adds what the example needs. */
  readonly add: (
    manager: EntityManager,
    accountId: string,
    app: Pick<INestApplicationContext, 'get'>,
  ) => Promise<unknown>;
  readonly example: {
    /** Such as `Send an email from its domain demo.test`. */
    readonly title: string;
    readonly path: string;
    readonly secret: 'apiToken' | 'apiKey';
    readonly body: object;
  };
}

/** Callbacks of a channel: one for each change of a message, and one for each message that arrives. */
export interface ChannelCallback {
  /**
   * `type`, such as `sms.delivery_report`; `*` stands for the status or event, as in `email.*`.
   */
  readonly statusEvent: string;
  /** `type` of callbacks for inbound messages. @default there are none */
  readonly receivedEvent?: string;
  /** Path at which the channel's credential reads inbound messages. @default '/ng/v1/inbound' */
  readonly inboundPath?: string;
  /**
   * `batch`: `reference_id` is the id of the batch, `message_id` that of the message. `message`:
   * `reference_id` is the id of the message, `message_id` the platform's, once it is known.
   */
  readonly identifiedBy: 'batch' | 'message';
  /** DTO of the callback of a status, for the OpenAPI document. */
  readonly event: Type;
  /** Fields of the status beside those of every channel. @default none */
  readonly data?: Type<CallbackData>;
  /** Callbacks that belong to no message. @default none */
  readonly others?: readonly OtherCallback[];
}

/** Fields of a channel's own in its callbacks; a provider of Nest. */
export interface CallbackData {
  /** Reads what the changes need, in their transaction. @returns the fields of each change */
  of(
    changes: readonly MessageStatusChanged[],
    manager: EntityManager,
  ): Promise<(change: MessageStatusChanged) => object> | ((change: MessageStatusChanged) => object);
}

export interface OtherCallback {
  readonly type: string;
  /** Its DTO. */
  readonly event: Type;
  readonly summary: string;
  readonly description: string;
}

/** Types of carriers that channels bring. */
export function carriersOf(channels: readonly GatewayChannel[]): CarrierTypes {
  return Object.fromEntries(channels.flatMap(({ carriers }) => Object.entries(carriers)));
}

/** The channels of this gateway. */
export class GatewayChannels {
  readonly #byName: ReadonlyMap<string, GatewayChannel>;

  constructor(readonly all: readonly GatewayChannel[]) {
    this.#byName = new Map(all.map((channel) => [channel.name, channel]));
  }

  find(name: string): GatewayChannel | undefined {
    return this.#byName.get(name);
  }

  /** Path of an inbound message at this service. */
  inboundPathOf(name: string, id: string): string {
    return `${this.find(name)?.callback?.inboundPath ?? '/ng/v1/inbound'}/${id}`;
  }

  /** @throws TypeError where accounts register no senders of the channel */
  sendersOf(name: string): SenderKind {
    const senders = this.find(name)?.senders;
    if (!senders) throw new TypeError(`accounts register no senders of ${name}`);
    return senders;
  }

  /** Exactly those that routes require; the key that is created with an account has all of them. */
  get scopes(): readonly Scope[] {
    const ofChannels = this.all.flatMap(({ scopes, notification }) =>
      notification ? [...scopes, notification.scope] : scopes,
    );
    return [...new Set([...ofChannels, NOTIFICATIONS_SCOPE, BILLING_SCOPE])];
  }

  /** Exactly those that routes require of tokens. */
  get tokenScopes(): readonly Scope[] {
    const ofChannels = this.all.flatMap(({ tokenScopes = [] }) => tokenScopes);
    const others = [
      INBOUND_SCOPE,
      GROUPS_SCOPE,
      WEBHOOKS_SCOPE,
      NOTIFICATIONS_SCOPE,
      BILLING_SCOPE,
    ];
    return [...new Set([...ofChannels, ...others])];
  }
}

@Module({})
export class ChannelsModule {
  static for(channels: readonly GatewayChannel[]): DynamicModule {
    const provider = { provide: GatewayChannels, useValue: new GatewayChannels(channels) };
    return { module: ChannelsModule, global: true, providers: [provider], exports: [provider] };
  }
}
