import type { ChannelDefinition } from '../message/channel-definition.js';
import { MessagingConfigError } from '../message/errors.js';
import type { Template } from '../message/templates.js';
import type { CallbackVerifier, DeliveryReportParser } from './delivery-report-parser.js';
import { milliseconds } from './duration.js';
import type { InboundOptions } from './inbound-options.js';
import type { InboundParser } from './inbound-parser.js';
import type {
  CallbackEndpointOptions,
  CallbackOptions,
  DispatchOptions,
  EngineFactory,
  LaneOf,
  MessagingExtras,
  MessagingOptions,
  ProviderOptions,
  RateLimit,
  ReportOptions,
  RetentionOptions,
  Route,
  SmsOptions,
  StoreOptions,
  TransportFactory,
} from './messaging-options.js';
import {
  callback,
  duration,
  flag,
  group,
  list,
  object,
  oneOf,
  optional,
  type OptionReader,
  record,
  text,
  wholeNumber,
  withDefault,
} from './option-schema.js';
import type { PolicyOptions, QuietHoursOptions, ServiceWindowOptions } from './policy-options.js';
import type { PriceList, RateCard } from './rate-card.js';
import { rateOf } from './rate-limit.js';
import type { WhatsAppOptions } from './whatsapp-options.js';

/** Readers of exactly the options that the type has. */
type ReadersOf<T> = { readonly [K in keyof Required<T>]: OptionReader<unknown> };

const rateLimit: OptionReader<ReturnType<typeof rateOf>> = (name, value) =>
  rateOf(name, typeof value === 'string' ? value : object<RateLimit>()(name, value));

const rateLimitOrFunction: OptionReader<RateLimit | ((lane: string) => RateLimit | undefined)> = (
  name,
  value,
) =>
  typeof value === 'function'
    ? callback<(lane: string) => RateLimit | undefined>()(name, value)
    : rateLimit(name, value);

/** A bare number is more often meant as days than as milliseconds, and as milliseconds it would erase data at once. */
const keptFor: OptionReader<number> = (name, value) => {
  if (typeof value === 'number' && value > 0 && value < 60_000)
    throw new MessagingConfigError(
      `${name}: ${value} means ${value} milliseconds; write '${value}d' for days, or '${value}ms'`,
    );
  return duration()(name, value);
};

const DISPATCH = {
  enabled: withDefault(flag, true),
  engine: optional(callback<EngineFactory>()),
  rateLimit: optional(rateLimitOrFunction),
  lane: optional(callback<(of: LaneOf) => string>()),
  lease: withDefault(duration(1_000), '30s'),
  concurrency: withDefault(wholeNumber(), 32),
  maxAttempts: withDefault(wholeNumber(), 8),
  retryFor: withDefault(duration(), '24h'),
  backoff: withDefault(duration(1), '1s'),
  timeout: withDefault(duration(1), '30s'),
  shutdownTimeout: withDefault(duration(), '10s'),
} satisfies ReadersOf<DispatchOptions>;

const RETENTION = {
  content: optional(keptFor),
  messages: optional(keptFor),
} satisfies ReadersOf<RetentionOptions>;

const STORE = {
  migrate: optional(flag),
  preparedStatements: withDefault(flag, true),
  idempotencyWindow: withDefault(duration(1_000), '24h'),
  retention: group(RETENTION),
} satisfies ReadersOf<StoreOptions>;

const REPORTS = {
  pollAfter: withDefault(duration(1), '1m'),
  giveUpAfter: withDefault(duration(1), '72h'),
} satisfies ReadersOf<ReportOptions>;

const SMS = {
  deliveryReport: withDefault(oneOf('none', 'yes'), 'yes'),
  maxRecipients: withDefault(wholeNumber(), 100_000),
  maxParts: withDefault(wholeNumber(), 10),
  upstreamGroups: withDefault(flag, false),
} satisfies ReadersOf<SmsOptions>;

const WHATSAPP = {
  from: optional(text),
  templates: optional(record(object<Template>())),
  maxText: withDefault(wholeNumber(), 4_096),
} satisfies ReadersOf<WhatsAppOptions>;

const ENDPOINT = {
  secrets: optional(list(text)),
  verifier: optional(object<CallbackVerifier>()),
  insecure: optional(flag),
  parser: optional(object<DeliveryReportParser>()),
  inbound: optional(object<InboundParser>()),
  provider: optional(text),
} satisfies ReadersOf<CallbackEndpointOptions>;

const CALLBACKS = {
  ...ENDPOINT,
  providers: optional(record(group(ENDPOINT))),
} satisfies ReadersOf<CallbackOptions>;

const POLICY = {
  remove: optional(list(text)),
  order: optional(list(text)),
  quietHours: optional(
    group({
      from: text,
      to: text,
      timeZones: optional(callback<(phone: string) => readonly string[]>()),
    } satisfies ReadersOf<QuietHoursOptions>),
  ),
  serviceWindow: optional(
    group({
      margin: optional(duration()),
      substitute: optional(callback<NonNullable<ServiceWindowOptions['substitute']>>()),
    } satisfies ReadersOf<ServiceWindowOptions>),
  ),
  frequencyCap: optional(record(group({ max: wholeNumber(), per: duration(1) }))),
} satisfies ReadersOf<PolicyOptions>;

const INBOUND = {
  tenant: optional(callback<NonNullable<InboundOptions['tenant']>>()),
  consent: optional(callback<NonNullable<InboundOptions['consent']>>()),
  reply: optional(callback<NonNullable<InboundOptions['reply']>>()),
} satisfies ReadersOf<InboundOptions>;

const PROVIDER = {
  transport: callback<TransportFactory>(),
  rateLimit: optional(rateLimit),
} satisfies ReadersOf<ProviderOptions>;

const ROUTE = {
  channel: optional(text),
  use: text,
} satisfies ReadersOf<Route>;

const readProvider = group(PROVIDER);

const PROVIDER_NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;

const readOptions = group({
  baseUrl: optional(text),
  apiToken: optional(text),
  apiKey: optional(text),
  transport: optional(callback<TransportFactory>()),
  providers: optional(record(provider)),
  routes: optional(list(group(ROUTE))),
  dispatch: group(DISPATCH),
  store: group(STORE),
  reports: group(REPORTS),
  sms: group(SMS),
  whatsapp: group(WHATSAPP),
  channels: withDefault(list(object<ChannelDefinition>()), []),
  // These options are read unchanged, because a missing one and an empty one differ.
  callbacks: asGiven<CallbackOptions>(group(CALLBACKS)),
  policy: asGiven<PolicyOptions>(group(POLICY)),
  inbound: asGiven<InboundOptions>(group(INBOUND)),
  rateCard: optional(object<RateCard | PriceList>()),
} satisfies ReadersOf<MessagingOptions>);

/** The checked options with their defaults; durations in milliseconds. */
export type MessagingSettings = ReturnType<typeof readOptions>;

/** Injection token of the {@link MessagingSettings}. */
export const MESSAGING_SETTINGS = Symbol('MESSAGING_SETTINGS');

/** @throws MessagingConfigError naming the option and the remedy */
export function settingsOf(options: MessagingOptions): MessagingSettings {
  refuseExtras(options);
  refuseUngrouped(options);
  const settings = readOptions('', options);
  const { transport, providers, baseUrl, apiToken, apiKey, reports } = settings;
  if (providers) refuseBesideProviders({ transport, baseUrl, apiToken, apiKey });
  else if (settings.routes)
    throw new MessagingConfigError(
      'routes: there are no providers; name them in `providers`, such as providers: { main: http({ … }) }',
    );
  if (transport)
    for (const [name, given] of Object.entries({ baseUrl, apiToken, apiKey }))
      if (given !== undefined)
        throw new MessagingConfigError(
          `${name}: there is a transport too; pass one of them, or transport: http({ baseUrl, apiToken })`,
        );
  if (reports.giveUpAfter < reports.pollAfter)
    throw new MessagingConfigError(
      'reports.giveUpAfter: is shorter than reports.pollAfter, so no message would be asked after; write a longer time',
    );
  refuseErasedCounts(settings);
  return settings;
}

/** The extras with their defaults. Nest takes exactly these names out of the options. */
export const MESSAGING_EXTRAS: MessagingExtras = {
  isGlobal: false,
  dataSource: undefined,
  callbackPath: 'messaging/delivery-reports',
  inboundPath: false,
  overrides: [],
};

/**
 * Checks the extras; `paths` are the paths that serve callbacks.
 * @throws MessagingConfigError naming a wrong extra, or a duplicate path
 */
export function extrasOf(given: MessagingExtras) {
  const isGlobal = withDefault(flag, false)('isGlobal', given.isGlobal);
  const dataSource = optional(text)('dataSource', given.dataSource);
  const paths = [
    withDefault(pathOrFalse, MESSAGING_EXTRAS.callbackPath)('callbackPath', given.callbackPath),
    withDefault(pathOrFalse, false)('inboundPath', given.inboundPath),
  ].filter((path) => path !== false);
  const [one, other] = paths.map((path) => path.replace(/^\/+|\/+$/g, ''));
  if (one !== undefined && one === other)
    throw new MessagingConfigError(
      'inboundPath: is the callbackPath; leave it out, since each path takes reports and inbound messages',
    );
  return { isGlobal, dataSource, paths, overrides: given.overrides ?? [] };
}

/** Nest has already taken the extras out, except those that an options factory returns. */
function refuseExtras(options: MessagingOptions): void {
  for (const key of Object.keys(options))
    if (Object.hasOwn(MESSAGING_EXTRAS, key))
      throw new MessagingConfigError(
        `${key}: is needed before the factory runs; pass it to forRootAsync() beside the factory`,
      );
}

function refuseBesideProviders(short: Readonly<Record<string, unknown>>): void {
  for (const [name, given] of Object.entries(short))
    if (given !== undefined)
      throw new MessagingConfigError(
        `${name}: there are providers too; leave it out, and add the provider to providers, such as providers: { main: http({ baseUrl, apiToken }) }`,
      );
}

/** Frequency caps cannot count messages that retention has erased. */
function refuseErasedCounts({ policy = {}, store: { retention } }: MessagingSettings): void {
  for (const [category, cap] of Object.entries(policy.frequencyCap ?? {}))
    for (const [field, kept] of Object.entries(retention))
      if (kept !== undefined && kept < milliseconds(`policy.frequencyCap.${category}.per`, cap.per))
        throw new MessagingConfigError(
          `store.retention.${field}: is shorter than policy.frequencyCap.${category}.per; erased messages cannot be counted`,
        );
}

/** Refuses an option that stands outside its group. */
function refuseUngrouped(options: MessagingOptions): void {
  for (const key of Object.keys(options))
    for (const [name, readers] of Object.entries({
      dispatch: DISPATCH,
      store: STORE,
      reports: REPORTS,
      sms: SMS,
    }))
      if (Object.hasOwn(readers, key))
        throw new MessagingConfigError(
          `${key}: there is no such option; did you mean ${name}.${key}?`,
        );
}

function asGiven<T>(read: OptionReader<unknown>): OptionReader<T | undefined> {
  return (name, value) => {
    if (value !== undefined) read(name, value);
    return value as T | undefined;
  };
}

/** A provider with its options; a bare transport has no options. */
function provider(name: string, value: unknown): ReturnType<typeof readProvider> {
  const key = name.slice(name.indexOf('.') + 1);
  if (!PROVIDER_NAME.test(key))
    throw new MessagingConfigError(
      `${name}: the name must be 1 to 32 lower-case letters, digits, dots, dashes or underscores`,
    );
  return readProvider(name, typeof value === 'function' ? { transport: value } : value);
}

function pathOrFalse(name: string, value: unknown): string | false {
  if (value === false || (typeof value === 'string' && value !== '')) return value;
  throw new MessagingConfigError(`${name}: must be a path, or false for none`);
}
