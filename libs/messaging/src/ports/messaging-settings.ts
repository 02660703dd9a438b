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
  type ReadersOf,
  rateLimit,
  record,
  secretKey,
  type SettingsOf,
  text,
  textLike,
  wholeNumber,
  withDefault,
} from './option-schema.js';
import { readBest } from './best-options.js';
import { CALLBACKS } from './callback-options.js';
import { DISPATCH } from './dispatch-options.js';
import { readExtras } from './messaging-extras.js';
import { POLICY } from './policy-options.js';
import { billingIncrement, type PriceList, type RateCard } from './rate-card.js';
import { readRoute } from './route-options.js';
import type {
  ConsentReader,
  InboundOptions,
  MaybeText,
  MessagingOptions,
  ProviderOptions,
  ReportsOptions,
  VerificationOptions,
} from './messaging-options.js';
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

const INBOUND = {
  tenant: withDefault(callback<(message: InboundMessage) => MaybeText>(), () => ''),
  consent: optional(callback<ConsentReader>()),
  keepText: withDefault(flag, true),
  media: group({
    maxBytes: withDefault(wholeNumber, 104_857_600),
    timeout: withDefault(duration(1), '2m'),
  }),
  reply: optional(callback<(received: InboundReceived) => MaybeText>()),
} satisfies ReadersOf<InboundOptions>;

const VERIFICATION = {
  keys: withDefault(list(secretKey), []),
  countries: optional(list(textLike(/^[A-Z]{2}$/, 'two capital letters, such as NG'))),
  text: optional(callback<(of: { readonly code: string; readonly minutes: number }) => string>()),
  subject: withDefault(text, 'Your code'),
  template: optional(group({ name: text, language: text })),
  perRecipient: withDefault(rateLimit, '10/24h'),
  perNetwork: withDefault(rateLimit, '50/h'),
  perCountry: withDefault(rateLimit, '2000/h'),
  perTenant: withDefault(rateLimit, '5000/h'),
  coolDown: withDefault(DURATION, '30s'),
} satisfies ReadersOf<VerificationOptions>;

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
  transport,
  rateLimit: optional(rateLimit),
  prices: optional(providerCosts),
  currency: optional(textLike(/^[A-Z]{3}$/, 'a code of ISO 4217, such as USD')),
} satisfies ReadersOf<ProviderOptions>);

/** A bare transport has no options. */
const provider: OptionReader<ReturnType<typeof readProvider>, ProviderOptions | TransportSource> = (
  name,
  value,
) => {
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
  transport: optional(transport),
  providers: optional(record(provider)),
  routes: optional(list(readRoute)),
  best: readBest,
  dispatch: group(DISPATCH),
  ambientTransaction: optional(object<AmbientTransaction>()),
  store: group({
    migrate: optional(flag),
    preparedStatements: withDefault(flag, true),
    recipientIndex: withDefault(flag, false),
    outcomes: withDefault(flag, false),
    idempotencyWindow: withDefault(duration(1_000), '24h'),
    retention: group({
      content: withDefault(keptFor, '30d'),
      messages: withDefault(keptFor, '365d'),
      outcomes: withDefault(keptFor, '800d'),
    }),
  }),
  reports: group({
    pollAfter: withDefault(MOMENT, '1m'),
    giveUpAfter: withDefault(MOMENT, '72h'),
    witness: optional(callback<NonNullable<ReportsOptions['witness']>>()),
  }),
  callbacks: optional(group(CALLBACKS)),
  erasure: group({
    keys: withDefault(list(secretKey), []),
  }),
  policy: group(POLICY),
  channels: withDefault(list(object<ChannelDefinition>()), []),
  sms: group({
    from: optional(text),
    deliveryReport: withDefault(flag, true),
    maxRecipients: withDefault(wholeNumber, 100_000),
    maxParts: withDefault(wholeNumber, 10),
    upstreamGroups: withDefault(flag, false),
  }),
  whatsapp: group({
    from: optional(text),
    templates: withDefault(knownTemplates, {}),
    syncTemplates: withDefault(MOMENT, '15m'),
    maxText: withDefault(wholeNumber, 4_096),
  }),
  email: group({
    from: optional(mailbox),
    maxRecipients: withDefault(wholeNumber, 100_000),
    maxSize: withDefault(wholeNumber, 26_214_400),
  }),
  voice: group({
    deliveryReport: withDefault(flag, true),
    from: optional(text),
    maxRecipients: withDefault(wholeNumber, 1_000),
    maxText: withDefault(wholeNumber, 3_000),
    billing: withDefault(billingIncrement, '60/60'),
  }),
  verification: group(VERIFICATION),
  inbound: group(INBOUND),
  rateCard: optional(object<RateCard | PriceList>()),
} satisfies ReadersOf<MessagingOptions>;

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
    for (const field of ['content', 'messages'] as const)
      if ((store.retention[field] ?? Infinity) < per)
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
