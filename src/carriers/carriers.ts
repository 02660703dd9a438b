import {
  type CallbackOptions,
  MessagingConfigError,
  type MessagingOptions,
  type PriceList,
  type Route,
  type TransportFactory,
} from '@dundun/messaging';
import type { BestOptions } from '@dundun/messaging/ports';
import { checkRoutes } from '@dundun/messaging/values';
import type { Rate } from '../settings/parsers.js';
import { weaknessOf } from '../settings/setting.js';
import {
  type CarrierCallbacks,
  type CarrierServices,
  type CarrierSettings,
  type CarrierType,
  type CarrierTypes,
  type MadeCarrier,
  type SettingsOf,
  SHARED_SETTINGS,
} from './carrier-type.js';
import { CARRIER_TYPES } from './carrier-types.js';
import { chooserOf, writtenInVariables } from './carrier-variables.js';
import { readCarriersFile } from './carriers-file.js';
import type { Source, WrittenCarrier } from './written.js';

/** Path of the callbacks of `CARRIER`; those of the channels' own carriers have their names below it. */
const CALLBACK_PATH = 'messaging/delivery-reports';

/** Path of the callbacks with `CARRIERS_FILE`: `callbacks/{carrier}`. */
const FILE_CALLBACK_PATH = 'callbacks';

/** Most bytes of a callback: the library's own limit. */
export const CARRIER_CALLBACK_BYTES = 1_048_576;

export function isCarrierCallback(route = ''): boolean {
  return [CALLBACK_PATH, FILE_CALLBACK_PATH].some((path) => `${route}/`.startsWith(`/${path}/`));
}

/** A carrier whose settings are checked. */
export interface Carrier extends MadeCarrier, Pick<WrittenCarrier, 'name' | 'role' | 'origin'> {
  readonly type: string;
  readonly traits: CarrierType;
  /** `undefined`: every channel. */
  readonly channels: readonly string[] | undefined;
  /** Over all accounts and processes. */
  readonly rateLimit: Rate | undefined;
  /** By the prefix of the recipient. */
  readonly prices: Readonly<Record<string, string>> | undefined;
  /** The settings as written, without secrets. */
  readonly shown: Readonly<Record<string, string>>;
}

/** An option that a provider refuses; the message names the key or the variable. */
class CarrierOptionError extends MessagingConfigError {}

/** The carriers of the gateway, and the rules that choose between them. */
export class Carriers {
  readonly #ofChannels = new Map<string, readonly Carrier[]>();

  /**
   * @param hasFile whether the last rules are those of `CARRIERS_FILE`
   * @param ownRules rules before them, each of a variable
   */
  constructor(
    readonly all: readonly Carrier[],
    readonly routes: readonly Route[],
    private readonly hasFile: boolean,
    private readonly ownRules: number,
    private readonly best: BestOptions | undefined,
    /** Of their `prices`; `undefined`: it is not known. */
    readonly currency?: string,
  ) {}

  /** Those that messages of the channel may leave by. */
  of(channel: string): readonly Carrier[] {
    const known = this.#ofChannels.get(channel) ?? this.#find(channel);
    this.#ofChannels.set(channel, known);
    return known;
  }

  #find(channel: string): readonly Carrier[] {
    const names = new Set<string>();
    for (const { channel: only = channel, use, ...conditions } of this.routes) {
      if (only !== channel) continue;
      for (const name of namesIn(use)) names.add(name);
      if (Object.values(conditions).every((condition) => condition === undefined)) break;
    }
    return this.all.filter(
      ({ name, channels = [channel] }) => names.has(name) && channels.includes(channel),
    );
  }

  /** Names without those of carriers that have one channel by its variable. */
  get main(): readonly string[] {
    return this.all.flatMap(({ name, role }) => (role === 'beside' ? [] : [name]));
  }

  get callbackPath(): string {
    return this.hasFile ? FILE_CALLBACK_PATH : CALLBACK_PATH;
  }

  /** Whether callbacks may be forms; those of the gateway's interface are JSON. */
  get takeForms(): boolean {
    return this.all.some(({ callbacks }) => callbacks && 'parser' in callbacks);
  }

  /** Whether callbacks may be `text/plain`. */
  get takeTexts(): boolean {
    return this.all.some(({ traits }) => traits.callsInText);
  }

  get haveCallbacks(): boolean {
    return this.all.some(({ callbacks }) => callbacks !== undefined);
  }

  /**
   * The endpoints of callbacks: that of `CARRIER` at the path itself, others at their names.
   * @throws MessagingConfigError naming the key or the variable
   */
  async callbacks(): Promise<CallbackOptions> {
    const main = this.all.find(({ role, callbacks }) => role === 'main' && callbacks);
    const named = this.all.filter((one) => one.callbacks && one !== main);
    const providers = await Promise.all(
      named.map(async (one) => [one.name, await callbacksOf(one)] as const),
    );
    return {
      ...(main && { ...(await callbacksOf(main)), provider: main.name }),
      ...(named.length > 0 && { providers: Object.fromEntries(providers) }),
    };
  }

  /** The options of the library for these carriers. @throws MessagingConfigError */
  async options(
    services: CarrierServices,
  ): Promise<
    Required<Pick<MessagingOptions, 'providers' | 'routes'>> & Pick<MessagingOptions, 'best'>
  > {
    const providers = await Promise.all(
      this.all.map(async (carrier) => {
        const { name, rateLimit, prices } = carrier;
        const transport = await transportOf(carrier, services);
        return [name, { transport, rateLimit, prices, ...(prices && { currency: this.currency }) }];
      }),
    );
    return {
      providers: Object.fromEntries(providers),
      routes: this.routes,
      ...(this.best && { best: this.best }),
    };
  }

  /** The highest rate of an account by channel, where its carriers have one. */
  get accountRates(): Readonly<Record<string, Rate>> {
    return Object.fromEntries(
      this.all.flatMap((carrier) =>
        Object.entries(carrier.traits.accountRates ?? {}).filter(([channel]) =>
          this.of(channel).includes(carrier),
        ),
      ),
    );
  }

  /** A wrong option of the library as the operator wrote it: rules have the numbers of the file. */
  problemOf(error: MessagingConfigError): string {
    if (error instanceof CarrierOptionError) return error.message;
    const message = error.message.replaceAll(/routes\[(\d+)\]/g, (_, index: string) => {
      const n = Number(index);
      return n < this.ownRules
        ? `the rule of ${chooserOf(this.routes[n]?.channel)}`
        : `routes[${n - this.ownRules}]`;
    });
    return this.hasFile ? `CARRIERS_FILE ${message}` : message;
  }
}

/** @throws MessagingConfigError naming the key or the variable */
export async function transportOf(
  { origin, transport }: Carrier,
  services: CarrierServices,
): Promise<TransportFactory> {
  if (typeof transport === 'function') return transport;
  return loaded(origin, async () => transport.load(services));
}

async function callbacksOf({ origin, callbacks = {} }: Carrier): Promise<CarrierCallbacks> {
  return 'load' in callbacks ? loaded(origin, callbacks.load) : callbacks;
}

/** @throws MessagingConfigError naming the key or the variable */
async function loaded<T>(origin: WrittenCarrier['origin'], load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof MessagingConfigError)) throw error;
    throw new CarrierOptionError(optionProblem(origin, error), { cause: error });
  }
}

/** An error of a provider begins with its function and option, as `twilio.authToken`; the words of the option are those of the key. */
function optionProblem(
  { place, wrong }: WrittenCarrier['origin'],
  { message }: MessagingConfigError,
) {
  const [, option, rule = ''] = /^(?:\w+\.)?(\w+): (.*)$/s.exec(message) ?? [];
  if (option === undefined) return `${place}: ${message}`;
  return wrong(
    option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    rule,
  );
}

function namesIn(use: Route['use']): readonly string[] {
  if (typeof use === 'string') return [use];
  if ('cheapest' in use) return use.cheapest;
  if ('best' in use) return use.best;
  if ('failover' in use) return use.failover.flatMap(namesIn);
  return Array.isArray(use.weighted)
    ? use.weighted.flatMap((part: { readonly use: Route['use'] }) => namesIn(part.use))
    : Object.keys(use.weighted);
}

/** What the settings of carriers depend on. */
interface CarrierContext {
  /** Weak secrets are refused. */
  readonly isProduction: boolean;
  /** Prices of WhatsApp messages on simulated carriers. */
  readonly prices: PriceList;
  /** Types that channels bring. @default none */
  readonly types?: CarrierTypes;
}

/**
 * The carriers of `CARRIERS_FILE` or of `CARRIER`, with those of the variables beside it.
 * @param problems gets a line for each wrong variable, key or rule
 * @returns `undefined` where there is a problem
 */
export function readCarriers(
  source: Source,
  context: CarrierContext,
  problems: string[],
): Carriers | undefined {
  const before = problems.length;
  const path = source['CARRIERS_FILE'] || undefined;
  const file = path === undefined ? undefined : readCarriersFile(path, source, problems);
  const own = writtenInVariables(source, path !== undefined);
  const written = [...(file?.carriers ?? []), ...own.carriers];
  for (const { name, origin } of file?.carriers ?? [])
    if (own.carriers.some((one) => one.name === name))
      problems.push(
        `${origin.place}: EMAIL_CARRIER, VAS_CARRIER, WHATSAPP_CARRIER or VOICE_CARRIER uses this name; give the carrier another one`,
      );
  const callbackPath = path === undefined ? CALLBACK_PATH : FILE_CALLBACK_PATH;
  const all = written.flatMap((one) => carrierOf(one, context, callbackPath, problems) ?? []);
  for (const one of own.unused) readSettings(one, context, problems);
  const routes = [...own.routes, ...(file?.routes ?? [])];
  const ownRules = own.routes.filter(({ channel }) => channel !== undefined).length;
  const carriers = new Carriers(
    all,
    routes,
    path !== undefined,
    ownRules,
    file?.best,
    file?.currency,
  );
  const priced = written.filter(({ settings }) => settings['prices']);
  try {
    if (routes.length > ownRules)
      checkRoutes(routes, namesOf(written), namesOf(priced), file?.best);
  } catch (error) {
    if (!(error instanceof MessagingConfigError)) throw error;
    problems.push(carriers.problemOf(error));
  }
  return problems.length === before ? carriers : undefined;
}

function namesOf(carriers: readonly WrittenCarrier[]): readonly string[] {
  return carriers.map(({ name }) => name);
}

function carrierOf(
  written: WrittenCarrier,
  context: CarrierContext,
  callbackPath: string,
  problems: string[],
): Carrier | undefined {
  const read = readSettings(written, context, problems);
  if (!read) return undefined;
  const { name, type, role, origin } = written;
  const { traits, values, shown } = read;
  const place = {
    callbackPath: role === 'main' ? callbackPath : `${callbackPath}/${name}`,
    prices: context.prices,
  };
  const { rate_limit: rateLimit, prices } = values as SettingsOf<typeof SHARED_SETTINGS>;
  const lacks = Object.entries(traits.settings).flatMap(([key, { carries = [] }]) =>
    values[key] === undefined ? carries : [],
  );
  const channels = traits.channels?.filter((channel) => !lacks.includes(channel));
  try {
    const made = traits.make(values as never, place);
    return { name, type, role, origin, traits, channels, rateLimit, prices, shown, ...made };
  } catch (error) {
    if (!(error instanceof MessagingConfigError)) throw error;
    problems.push(optionProblem(origin, error));
    return undefined;
  }
}

/** `undefined` where a key is wrong or missing. */
function readSettings(
  { type, settings, origin }: WrittenCarrier,
  { isProduction, types: own = {} }: CarrierContext,
  problems: string[],
) {
  const before = problems.length;
  const types: CarrierTypes = { ...CARRIER_TYPES, ...own };
  const traits = Object.hasOwn(types, type) ? types[type] : undefined;
  if (!traits) {
    problems.push(origin.wrong('type', `must be one of ${Object.keys(types).join(', ')}`));
    return undefined;
  }
  const known: CarrierSettings = { ...traits.settings, ...SHARED_SETTINGS };
  const keys = Object.keys(known);
  for (const key of Object.keys(settings).filter((one) => !keys.includes(one)))
    problems.push(origin.wrong(key, `there is no such key; there are type, ${keys.join(', ')}`));
  const values: Record<string, unknown> = {};
  const shown: Record<string, string> = {};
  for (const [key, setting] of Object.entries(known)) {
    const text = settings[key] || setting.default;
    if (text === undefined) {
      problems.push(...[origin.missing(key, setting) ?? []].flat());
      continue;
    }
    try {
      values[key] = setting.parse(text);
    } catch (error) {
      const value = setting.secret ? undefined : text;
      problems.push(origin.wrong(key, (error as Error).message, value));
    }
    const weakness = isProduction && settings[key] ? weaknessOf(text, setting.secret) : undefined;
    if (weakness) problems.push(origin.wrong(key, weakness));
    shown[key] = setting.secret ? '(secret)' : text;
  }
  const conflict = traits.conflict?.(values as never);
  if (conflict) problems.push(origin.wrong(...conflict));
  return problems.length === before ? { traits, values, shown } : undefined;
}
