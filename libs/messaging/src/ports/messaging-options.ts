import type { AmbientTransaction } from './ambient-transaction.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import type { InboundMessage, InboundReceived } from '../message/events.js';
import type { WitnessedReceipts } from '../message/receipt-doubts.js';
import type { Template } from '../message/templates.js';
import type { BestOptions } from './best-options.js';
import type { CallbackOptions } from './callback-options.js';
import type { DispatchOptions } from './dispatch-options.js';
import type { TransportSource } from './message-transport.js';
import type { Duration, RateLimit } from './option-schema.js';
import type { PolicyOptions } from './policy-options.js';
import type { PriceList, RateCard } from './rate-card.js';
import type { Route } from './route-options.js';
import type { Token } from './token.js';

/**
 * Reads consent from a text; `undefined`: it has no consent word. Called before the transaction
 * that records the message, so that the reader may query the tenant's words.
 */
export type ConsentReader = (
  text: string,
  message: InboundMessage & { readonly tenant: string },
) => 'opted_in' | 'opted_out' | undefined | Promise<'opted_in' | 'opted_out' | undefined>;

export type MaybeText = string | undefined | Promise<string | undefined>;

/** Options for inbound messages. */
export interface InboundOptions {
  /**
   * Tenant of a message for which the transport names none. `undefined`: no tenant; the message is
   * skipped and logged. A throw records nothing, and the provider repeats the callback. @default ''
   */
  readonly tenant?: (message: InboundMessage) => MaybeText;
  /**
   * Words that opt out and in, by tenant: `(text, { tenant }) => readerOf(tenant)(text)`.
   * @default `consentWords()`, the words of several languages
   */
  readonly consent?: ConsentReader;
  /**
   * Keep texts and contents for conversations and `InboundService`, as long as `store.retention` keeps
   * content. @default true
   */
  readonly keepText?: boolean;
  /** Bounds of a file that `InboundService.media()` fetches. */
  readonly media?: {
    /** Most bytes. @default 100 MiB */
    readonly maxBytes?: number;
    /** For the whole file. @default '2m' */
    readonly timeout?: Duration;
  };
  /** Reply to a message that just changed its sender's consent. @default no reply */
  readonly reply?: (received: InboundReceived) => MaybeText;
}

/** Options of the tables in the database of the app. */
export interface StoreOptions {
  /** Create and update `messaging_*` at start. @default true, false if NODE_ENV is production */
  readonly migrate?: boolean;
  /**
   * Plan frequent PostgreSQL statements once per connection; stops behind a pooler that drops
   * prepared statements. @default true
   */
  readonly preparedStatements?: boolean;
  /**
   * Index of messages by recipient, so that `MessageHistory.messages({ to })` finds a number among
   * millions; each message pays for it. Its migration is of `FREQUENCY_CAP_MIGRATIONS`.
   * @default false, true with a frequency cap
   */
  readonly recipientIndex?: boolean;
  /**
   * Count messages by hour, tenant, channel, provider, country, sender, tag, category and status, for
   * `MessageHistory.outcomes()`: one statement more for each group of changes of statuses. Every process
   * on the database must have the same value; after a change run `MessagingOperations.rebuildOutcomes()`.
   * @default false
   */
  readonly outcomes?: boolean;
  /** How long an idempotency key is remembered. At least one second. @default '24h' */
  readonly idempotencyWindow?: Duration;
  /**
   * How long messages are kept after their batch has ended; `false`: without limit. A bare number below
   * a minute is refused: write `'30d'`. Not shorter than a window of `policy.frequencyCap`.
   * @example
   * retention: { content: '90d', messages: false }
   */
  readonly retention?: {
    /** Texts and phone numbers; the counts stay. @default '30d' */
    readonly content?: Duration | false;
    /**
     * The batch with its content; not shorter than `idempotencyWindow` and `reports.giveUpAfter`.
     * @default '365d'
     */
    readonly messages?: Duration | false;
    /** Counts of `outcomes`, which have no addresses and texts. @default '800d' */
    readonly outcomes?: Duration | false;
  };
}

/** When messages without a final report are polled. */
export interface ReportsOptions {
  /** First poll, counted from the last submission of the batch. @default '1m' */
  readonly pollAfter?: Duration;
  /** End of the polls; not before `pollAfter`. @default '72h' */
  readonly giveUpAfter?: Duration;
  /**
   * What test phones of your own have got of the messages that providers reported as delivered, since
   * a time; `best()` and `MessageHistory.doubtfulReceipts()` ask. It is one statement over few rows.
   * @default no phones
   */
  readonly witness?: (since: Date) => Promise<readonly WitnessedReceipts[]>;
}

/** Options of erasures, and of keyed digests. */
export interface ErasureOptions {
  /**
   * Secrets of at least 32 bytes in base64. The first makes keyed digests: of refusals that
   * outlive an erased contact, of idempotency keys and fingerprints. Keep former ones after it:
   * a refusal under a key that is missing here is lost. @default none; `erase()` then fails
   */
  readonly keys?: readonly string[];
}

/** Options of SMS. */
export interface SmsOptions {
  /** Sender of messages that name none. @default none: each message names one */
  readonly from?: string;
  /** Default of a message's `deliveryReport`. @default true */
  readonly deliveryReport?: boolean;
  /** Most recipients in one send. @default 100000 */
  readonly maxRecipients?: number;
  /** Most parts of one SMS. @default 10 */
  readonly maxParts?: number;
  /** Pass groups in `to` to the upstream service, which owns them, unexpanded. @default false */
  readonly upstreamGroups?: boolean;
}

/** Options of WhatsApp messages. */
export interface WhatsAppOptions {
  /** Sender number of messages that name none. @default the service chooses */
  readonly from?: string;
  /**
   * Templates of `defineTemplates()` that messages may name, so that their parameters are checked.
   * `'open'`: a message may name any template of the platform, unchecked. `'synced'`: those that
   * the platform lists, in the state that it last reported (`TemplateNotApprovedError`).
   * @default none
   */
  readonly templates?: Readonly<Record<string, Template>> | 'open' | 'synced';
  /** With `'synced'`: how often the platform's list is read. @default '15m' */
  readonly syncTemplates?: Duration;
  /** Most characters of a text. @default 4096 */
  readonly maxText?: number;
}

/** Options of emails. */
export interface EmailOptions {
  /**
   * Sender of emails that name none, such as `'Shop <orders@shop.example>'`.
   * @default none: each email names one
   */
  readonly from?: string;
  /** Most recipients in one send. @default 100000 */
  readonly maxRecipients?: number;
  /**
   * Most octets of a whole message before its encoding; base64 makes attachments a third larger.
   * @default 25 MiB
   */
  readonly maxSize?: number;
}

/** Options of calls. */
export interface VoiceOptions {
  /** Default of a call's `deliveryReport`. @default true */
  readonly deliveryReport?: boolean;
  /** Caller id of calls that name none. @default none: each call names one */
  readonly from?: string;
  /** Most recipients in one send. @default 1000 */
  readonly maxRecipients?: number;
  /** Most characters of a text. @default 3000 */
  readonly maxText?: number;
  /**
   * Seconds of the first and of each further block that a call is billed by, where the price has
   * none of its own; the rate card has the price of a minute. @default '60/60'
   */
  readonly billing?: string;
}

/** Options of one-time codes. */
export interface VerificationOptions {
  /**
   * Secrets of at least 32 bytes in base64. The first encrypts the messages with codes in the store,
   * until they are erased. Former ones follow it until `VerificationService.reencrypt()` has run; a
   * message under a secret that is missing here ends with the error code `content_unreadable`.
   * @default none: the store has the messages in clear
   */
  readonly keys?: readonly string[];
  /** ISO 3166 codes of countries whose numbers get codes. @default all */
  readonly countries?: readonly string[];
  /** The text of a code on SMS and email. @default English */
  readonly text?: (of: { readonly code: string; readonly minutes: number }) => string;
  /** Subject of an email. @default 'Your code' */
  readonly subject?: string;
  /** Approved WhatsApp template whose one parameter is the code. @default each code names one */
  readonly template?: { readonly name: string; readonly language: string };
  /** Most codes of a tenant to one recipient. @default '10/24h' */
  readonly perRecipient?: RateLimit | string;
  /**
   * Most codes of a tenant to one network: numbers with equal digits before the last four, or one
   * mail domain. @default '50/h'
   */
  readonly perNetwork?: RateLimit | string;
  /** Most codes of a tenant to one country. @default '2000/h' */
  readonly perCountry?: RateLimit | string;
  /** Most codes of a tenant. @default '5000/h' */
  readonly perTenant?: RateLimit | string;
  /** Wait after the first code to a recipient; it doubles with each further one. @default '30s' */
  readonly coolDown?: Duration;
}

/** A provider, and what counts for it over all lanes and replicas. */
export interface ProviderOptions {
  /** `simulator()`, `http({...})`, a factory of your own, `{ useClass }` or `{ useFactory, inject }`. */
  readonly transport: TransportSource;
  /** Limit of the provider over all lanes and replicas. @default none */
  readonly rateLimit?: RateLimit | string;
  /**
   * What the provider charges, by the prefix of the recipient, `'*'` for all others, in one currency for
   * all providers: for `cheapest()` and `maxPrice` of routes. @default none
   */
  readonly prices?: Readonly<Record<string, string>>;
  /**
   * Currency of `prices`, by its ISO 4217 code. With it and `store.outcomes`, `MessageHistory.outcomes()`
   * has what the provider's messages cost. @default they are not counted
   */
  readonly currency?: string;
}

/**
 * Options of `MessagingModule.forRoot()`. Durations are `'30s'` or milliseconds. An unknown or
 * wrong option stops the boot with a `MessagingConfigError` that names it and the remedy.
 */
export interface MessagingOptions {
  /**
   * The only provider: `http({ baseUrl, apiToken })`, `simulator()` or one of your own, also as
   * `{ useClass }` or `{ useFactory, inject }`.
   */
  readonly transport?: TransportSource;
  /**
   * Several providers by name, instead of `transport`. Do not rename a provider with messages under
   * way: their outcomes would be `unknown`.
   * @example
   * providers: { main: { transport: http({ baseUrl, apiToken }), rateLimit: { max: 50, per: '1s' } }, test: simulator() }
   */
  readonly providers?: Readonly<Record<string, ProviderOptions | TransportSource>>;
  /**
   * The first rule whose conditions fit a recipient decides. A message to a recipient without one is
   * refused with a `NoRouteError`. @default everything to the only provider
   * @example
   * routes: [
   *   { channel: 'whatsapp', use: 'meta' },
   *   { channel: 'sms', to: ['234'], use: failover('a', 'b') },
   *   { channel: 'sms', use: weighted({ a: 70, b: 30 }) },
   * ]
   */
  readonly routes?: readonly Route[];
  /** How `best()` of routes compares providers. */
  readonly best?: BestOptions;
  readonly dispatch?: DispatchOptions;
  /**
   * Joins what is sent, where it gets no `manager`, to the transaction of `@Transactional()`:
   * `typeOrmTransactional()`, or `clsTransactional()` of `@dundun/messaging/cls-transactional`.
   * @default only `manager` joins a transaction
   */
  readonly ambientTransaction?: AmbientTransaction;
  readonly store?: StoreOptions;
  /** Schedule of the polls for messages without a final report. */
  readonly reports?: ReportsOptions;
  readonly callbacks?: CallbackOptions;
  readonly erasure?: ErasureOptions;
  readonly policy?: PolicyOptions;
  /** Channels beside those of the library. @default none */
  readonly channels?: readonly ChannelDefinition[];
  readonly sms?: SmsOptions;
  readonly whatsapp?: WhatsAppOptions;
  readonly email?: EmailOptions;
  readonly voice?: VoiceOptions;
  /** One-time codes; `erasure.keys` protects them. */
  readonly verification?: VerificationOptions;
  readonly inbound?: InboundOptions;
  /** Prices of messages, for `estimate()`. @default no prices */
  readonly rateCard?: RateCard | PriceList;
}

export const MESSAGING_OPTIONS = Symbol('MESSAGING_OPTIONS') as Token<MessagingOptions>;
