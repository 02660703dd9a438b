import type { AmbientTransaction } from './ambient-transaction.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import { MessagingConfigError } from '../message/errors.js';
import type { InboundMessage, InboundReceived } from '../message/events.js';
import { parseMailbox } from '../message/mailbox.js';
import { SyncedTemplates, type Template } from '../message/templates.js';
import type { TransportFactory, TransportSource } from './message-transport.js';
import { providerCosts } from './provider-costs.js';
import {
  callback,
  DURATION,
  type Duration,
  duration,
  flag,
  group,
  list,
  MOMENT,
  object,
  optional,
  type OptionReader,
  type OptionsOf,
  rateLimit,
  record,
  secretKey,
  type SettingsOf,
  text,
  textLike,
  wholeNumber,
  withDefault,
} from './option-schema.js';
import { CALLBACKS } from './callback-options.js';
import { DISPATCH } from './dispatch-options.js';
import { readExtras } from './messaging-extras.js';
import { POLICY } from './policy-options.js';
import { billingIncrement, type PriceList, type RateCard } from './rate-card.js';
import { readRoute } from './route-options.js';
import type { Token } from './token.js';

/** A bare number is more often meant as days; as milliseconds it would erase data at once. */
const keptFor: OptionReader<number | undefined, Duration | false> = (name, value) => {
  if (value === false) return undefined;
  if (typeof value === 'number' && value > 0 && value < 60_000)
    throw new MessagingConfigError(
      `${name}: ${value} means ${value} milliseconds; write '${value}d' for days, or '${value}ms'`,
    );
  return DURATION(name, value);
};

type KnownTemplates = Readonly<Record<string, Template>>;

const readTemplates = record(object<Template>());

const knownTemplates: OptionReader<
  KnownTemplates | SyncedTemplates | 'open',
  KnownTemplates | 'open' | 'synced'
> = (name, value) => {
  if (value === 'synced') return new SyncedTemplates();
  return value === 'open' ? value : readTemplates(name, value);
};

/**
 * Reads consent from a text; `undefined`: it has no consent word. Called before the transaction
 * that records the message, so that the reader may query the tenant's words.
 */
export type ConsentReader = (
  text: string,
  message: InboundMessage & { readonly tenant: string },
) => 'opted_in' | 'opted_out' | undefined | Promise<'opted_in' | 'opted_out' | undefined>;

type MaybeText = string | undefined | Promise<string | undefined>;

const INBOUND = {
  /**
   * Tenant of a message for which the transport names none. `undefined`: no tenant; the message is
   * skipped and logged. A throw records nothing, and the provider repeats the callback. @default ''
   */
  tenant: withDefault(callback<(message: InboundMessage) => MaybeText>(), () => ''),
  /**
   * Words that opt out and in, by tenant: `(text, { tenant }) => readerOf(tenant)(text)`.
   * @default `consentWords()`, the words of several languages
   */
  consent: optional(callback<ConsentReader>()),
  /**
   * Keep texts for conversations, as long as `store.retention` keeps content. @default true
   */
  keepText: withDefault(flag, true),
  /** Reply to a message that just changed its sender's consent. @default no reply */
  reply: optional(callback<(received: InboundReceived) => MaybeText>()),
};

/** Options for inbound messages. */
export type InboundOptions = OptionsOf<typeof INBOUND>;

const VERIFICATION = {
  /**
   * Secrets of at least 32 bytes in base64. The first encrypts the messages with codes in the store,
   * until they are erased. Former ones follow it until `VerificationService.reencrypt()` has run; a
   * message under a secret that is missing here ends with the error code `content_unreadable`.
   * @default none: the store has the messages in clear
   */
  keys: withDefault(list(secretKey), []),
  /** ISO 3166 codes of countries whose numbers get codes. @default all */
  countries: optional(list(textLike(/^[A-Z]{2}$/, 'two capital letters, such as NG'))),
  /** The text of a code on SMS and email. @default English */
  text: optional(callback<(of: { readonly code: string; readonly minutes: number }) => string>()),
  /** Subject of an email. @default 'Your code' */
  subject: withDefault(text, 'Your code'),
  /** Approved WhatsApp template whose one parameter is the code. @default each code names one */
  template: optional(group({ name: text, language: text })),
  /** Most codes of a tenant to one recipient. @default '10/24h' */
  perRecipient: withDefault(rateLimit, '10/24h'),
  /**
   * Most codes of a tenant to one network: numbers with equal digits before the last four, or one
   * mail domain. @default '50/h'
   */
  perNetwork: withDefault(rateLimit, '50/h'),
  /** Most codes of a tenant to one country. @default '2000/h' */
  perCountry: withDefault(rateLimit, '2000/h'),
  /** Most codes of a tenant. @default '5000/h' */
  perTenant: withDefault(rateLimit, '5000/h'),
  /** Wait after the first code to a recipient; it doubles with each further one. @default '30s' */
  coolDown: withDefault(DURATION, '30s'),
};

const transport: OptionReader<TransportSource> = (name, value) => {
  if (typeof value === 'function') return value as TransportFactory;
  const { useClass, useFactory, inject = [] } = (value ?? {}) as Record<string, unknown>;
  const made = [useClass, useFactory].filter((one) => one !== undefined);
  if (made.length === 1 && typeof made[0] === 'function' && Array.isArray(inject))
    return value as TransportSource;
  throw new MessagingConfigError(
    `${name}: must be a transport such as simulator() or http({ … }), { useClass: YourTransport }, or { useFactory: (a, b) => …, inject: [A, B] }`,
  );
};

const readProvider = group({
  /** `simulator()`, `http({...})`, a factory of your own, `{ useClass }` or `{ useFactory, inject }`. */
  transport,
  /** Limit of the provider over all lanes and replicas. @default none */
  rateLimit: optional(rateLimit),
  /**
   * What the provider charges, by the prefix of the recipient, `'*'` for all others, in one currency for
   * all providers: for `cheapest()` and `maxPrice` of routes. @default none
   */
  prices: optional(providerCosts),
});

/** A bare transport has no options. */
const provider: OptionReader<
  ReturnType<typeof readProvider>,
  OptionsOf<typeof readProvider.readers> | TransportSource
> = (name, value) => {
  if (!/^[a-z0-9][a-z0-9._-]{0,31}$/.test(name.slice('providers.'.length)))
    throw new MessagingConfigError(
      `${name}: the name must be 1 to 32 lower-case letters, digits, dots, dashes or underscores`,
    );
  const isBare =
    typeof value === 'function' ||
    (value !== null && typeof value === 'object' && ('useClass' in value || 'useFactory' in value));
  return readProvider(name, isBare ? { transport: value } : value);
};

const mailbox: OptionReader<string> = (name, value) => {
  if (typeof value === 'string' && parseMailbox(value)) return value;
  throw new MessagingConfigError(
    `${name}: must be an e-mail address, such as 'Shop <orders@shop.example>'`,
  );
};

const OPTIONS = {
  /**
   * The only provider: `http({ baseUrl, apiToken })`, `simulator()` or one of your own, also as
   * `{ useClass }` or `{ useFactory, inject }`.
   */
  transport: optional(transport),
  /**
   * Several providers by name, instead of `transport`. Do not rename a provider with messages under
   * way: their outcomes would be `unknown`.
   * @example
   * providers: { main: { transport: http({ baseUrl, apiToken }), rateLimit: { max: 50, per: '1s' } }, test: simulator() }
   */
  providers: optional(record(provider)),
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
  routes: optional(list(readRoute)),
  dispatch: group(DISPATCH),
  /**
   * Joins what is sent, where it gets no `manager`, to the transaction of `@Transactional()`:
   * `typeOrmTransactional()`, or `clsTransactional()` of `@dundun/messaging/cls-transactional`.
   * @default only `manager` joins a transaction
   */
  ambientTransaction: optional(object<AmbientTransaction>()),
  store: group({
    /** Create and update `messaging_*` at start. @default true, false if NODE_ENV is production */
    migrate: optional(flag),
    /**
     * Plan frequent PostgreSQL statements once per connection; stops behind a pooler that drops
     * prepared statements. @default true
     */
    preparedStatements: withDefault(flag, true),
    /**
     * Index of messages by recipient, so that `MessageHistory.messages({ to })` finds a number among
     * millions; each message pays for it. Its migration is of `FREQUENCY_CAP_MIGRATIONS`.
     * @default false, true with a frequency cap
     */
    recipientIndex: withDefault(flag, false),
    /** How long an idempotency key is remembered. At least one second. @default '24h' */
    idempotencyWindow: withDefault(duration(1_000), '24h'),
    /**
     * How long messages are kept after their batch has ended; `false`: without limit. A bare number below
     * a minute is refused: write `'30d'`. Not shorter than a window of `policy.frequencyCap`.
     * @example
     * retention: { content: '90d', messages: false }
     */
    retention: group({
      /** Texts and phone numbers; the counts stay. @default '30d' */
      content: withDefault(keptFor, '30d'),
      /**
       * The batch with its content; not shorter than `idempotencyWindow` and `reports.giveUpAfter`.
       * @default '365d'
       */
      messages: withDefault(keptFor, '365d'),
    }),
  }),
  /** Schedule of the polls for messages without a final report. */
  reports: group({
    /** First poll, counted from the last submission of the batch. @default '1m' */
    pollAfter: withDefault(MOMENT, '1m'),
    /** End of the polls; not before `pollAfter`. @default '72h' */
    giveUpAfter: withDefault(MOMENT, '72h'),
  }),
  callbacks: optional(group(CALLBACKS)),
  erasure: group({
    /**
     * Secrets of at least 32 bytes in base64. The first makes keyed digests: of refusals that
     * outlive an erased contact, of idempotency keys and fingerprints. Keep former ones after it:
     * a refusal under a key that is missing here is lost. @default none; `erase()` then fails
     */
    keys: withDefault(list(secretKey), []),
  }),
  policy: group(POLICY),
  /** Channels beside those of the library. @default none */
  channels: withDefault(list(object<ChannelDefinition>()), []),
  sms: group({
    /** Sender of messages that name none. @default none: each message names one */
    from: optional(text),
    /** Default of a message's `deliveryReport`. @default true */
    deliveryReport: withDefault(flag, true),
    /** Most recipients in one send. @default 100000 */
    maxRecipients: withDefault(wholeNumber, 100_000),
    /** Most parts of one SMS. @default 10 */
    maxParts: withDefault(wholeNumber, 10),
    /** Pass groups in `to` to the upstream service, which owns them, unexpanded. @default false */
    upstreamGroups: withDefault(flag, false),
  }),
  whatsapp: group({
    /** Sender number of messages that name none. @default the service chooses */
    from: optional(text),
    /**
     * Templates of `defineTemplates()` that messages may name, so that their parameters are checked.
     * `'open'`: a message may name any template of the platform, unchecked. `'synced'`: those that
     * the platform lists, in the state that it last reported (`TemplateNotApprovedError`).
     * @default none
     */
    templates: withDefault(knownTemplates, {}),
    /** With `'synced'`: how often the platform's list is read. @default '15m' */
    syncTemplates: withDefault(MOMENT, '15m'),
    /** Most characters of a text. @default 4096 */
    maxText: withDefault(wholeNumber, 4_096),
  }),
  email: group({
    /**
     * Sender of emails that name none, such as `'Shop <orders@shop.example>'`.
     * @default none: each email names one
     */
    from: optional(mailbox),
    /** Most recipients in one send. @default 100000 */
    maxRecipients: withDefault(wholeNumber, 100_000),
    /**
     * Most octets of a whole message before its encoding; base64 makes attachments a third larger.
     * @default 25 MiB
     */
    maxSize: withDefault(wholeNumber, 26_214_400),
  }),
  voice: group({
    /** Default of a call's `deliveryReport`. @default true */
    deliveryReport: withDefault(flag, true),
    /** Caller id of calls that name none. @default none: each call names one */
    from: optional(text),
    /** Most recipients in one send. @default 1000 */
    maxRecipients: withDefault(wholeNumber, 1_000),
    /** Most characters of a text. @default 3000 */
    maxText: withDefault(wholeNumber, 3_000),
    /**
     * Seconds of the first and of each further block that a call is billed by, where the price has
     * none of its own; the rate card has the price of a minute. @default '60/60'
     */
    billing: withDefault(billingIncrement, '60/60'),
  }),
  /** One-time codes; `erasure.keys` protects them. */
  verification: group(VERIFICATION),
  inbound: group(INBOUND),
  /** Prices of messages, for `estimate()`. @default no prices */
  rateCard: optional(object<RateCard | PriceList>()),
};

/**
 * Options of `MessagingModule.forRoot()`. Durations are `'30s'` or milliseconds. An unknown or
 * wrong option stops the boot with a `MessagingConfigError` that names it and the remedy.
 */
export type MessagingOptions = OptionsOf<typeof OPTIONS>;

export const MESSAGING_OPTIONS = Symbol('MESSAGING_OPTIONS') as Token<MessagingOptions>;

const readOptions = group(OPTIONS);

/** The checked options with their defaults; durations in milliseconds. */
export type MessagingSettings = SettingsOf<typeof OPTIONS>;

export const MESSAGING_SETTINGS = Symbol('MESSAGING_SETTINGS') as Token<MessagingSettings>;

/** @throws MessagingConfigError naming the option and the remedy */
export function settingsOf(options: MessagingOptions): MessagingSettings {
  // Nest has already taken the extras out, except those that an options factory returns.
  for (const key of Object.keys(options))
    if (Object.hasOwn(readExtras.readers, key))
      throw new MessagingConfigError(
        `${key}: is needed before the factory runs; pass it to forRootAsync() beside the factory`,
      );
  const settings = readOptions('', options);
  const { providers, routes, transport, reports, policy, store } = settings;
  if (routes && !providers)
    throw new MessagingConfigError(
      'routes: there are no providers; name them in `providers`, such as providers: { main: http({ … }) }',
    );
  if (transport && providers)
    throw new MessagingConfigError(
      'transport: there are providers too; leave it out, and add the provider to providers, such as providers: { main: http({ baseUrl, apiToken }) }',
    );
  if (reports.giveUpAfter < reports.pollAfter)
    throw new MessagingConfigError(
      'reports.giveUpAfter: is shorter than reports.pollAfter, so no message would be asked after; write a longer time',
    );
  checkRetention(settings, options.store?.retention);
  for (const [category, { per }] of Object.entries(policy.frequencyCap ?? {}))
    for (const [field, kept] of Object.entries(store.retention))
      if (kept !== undefined && kept < per)
        throw new MessagingConfigError(
          `store.retention.${field}: is shorter than policy.frequencyCap.${category}.per; erased messages cannot be counted`,
        );
  return settings;
}

/** Settings that a deleted batch would break, and a content that its batch would take with it. */
function checkRetention(
  { store, reports }: MessagingSettings,
  written: NonNullable<MessagingOptions['store']>['retention'],
): void {
  const { content = Infinity, messages = Infinity } = store.retention;
  for (const [name, needed] of [
    ['store.idempotencyWindow', store.idempotencyWindow],
    ['reports.giveUpAfter', reports.giveUpAfter],
  ] as const)
    if (messages < needed)
      throw new MessagingConfigError(
        `store.retention.messages: is shorter than ${name}, which needs the batch; write at least '${needed}ms', or false`,
      );
  if (written?.content !== undefined && messages < content)
    throw new MessagingConfigError(
      'store.retention.content: is longer than store.retention.messages, which deletes the batch with its content; write a longer time there, or false',
    );
}
