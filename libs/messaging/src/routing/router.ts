import { keepNewest } from '../message/keep-newest.js';
import { addressOfKey } from '../message/address.js';
import { countryOfNumber } from '../message/phone-country.js';
import { MessagingConfigError, NoRouteError } from '../message/errors.js';
import type { SenderKind } from '../message/channel-definition.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { MessageContent } from '../message/message.js';
import type { MessageTransport } from '../ports/message-transport.js';
import type { BestProviders, ComparedGroup } from './best-providers.js';
import {
  alternativesIn,
  bestIn,
  comparesCosts,
  nameOf,
  namesIn,
  namesOf,
  comparedIn,
  within,
} from './choice.js';
import { readBest } from '../ports/best-options.js';
import { byCost, ProviderCosts } from '../ports/provider-costs.js';
import { type Choice, readRoute, type Route, type RouteRule } from '../ports/route-options.js';

export type Providers = ReadonlyMap<string, Pick<MessageTransport, 'capabilities'>>;

/** Facts of a message that rules ask for, beside its recipient. */
export interface RoutedMessage {
  readonly tenant: string;
  readonly channel: string;
  readonly sender: string;
  readonly content: MessageContent;
}

/** Most unroutable recipients that one error names. */
const MOST_NAMED = 10;

/** One rule, with the values that its recipients are compared with. */
export interface RouteOf {
  readonly rule: RouteRule;
  /** `use` of the rule; of one that compares costs, with the providers in the order of the recipient's. */
  readonly use: Choice;
  /** Providers of `use` that carry the channel, in the order of the rule. */
  readonly providers: readonly string[];
  /** Routes of a rule that compares costs or outcomes, by the order of the providers and the country. */
  readonly compared?: Map<string, RouteOf>;
  /** Of a rule with `best()`: what its providers are compared for. */
  readonly best?: Pick<ComparedGroup, 'channel' | 'country'>;
}

/**
 * Selects the providers of messages: the first rule whose conditions all fit decides. Within a rule,
 * `candidates()` gives the providers in the order in which one submission may try them.
 */
export class Router {
  readonly #rules: readonly (RouteRule & { readonly starts: Starts | undefined })[];
  /** Rules of a tenant, channel, sender and category. */
  readonly #fitting = new Map<string, readonly (RouteOf & { readonly starts?: Starts })[]>();

  /**
   * @param routes in order; `undefined`: everything to the only provider
   * @throws MessagingConfigError naming the option and the remedy
   */
  constructor(
    routes: readonly RouteRule[] | undefined,
    private readonly providers: Providers,
    private readonly channels?: Pick<ChannelRegistry, 'find' | 'priceCategoryOf'>,
    private readonly costs: ReadonlyMap<string, ProviderCosts> = new Map(),
    private readonly best?: BestProviders,
  ) {
    const [only, ...others] = providers.keys();
    if (only === undefined)
      throw new MessagingConfigError(
        'providers: is empty; name at least one, such as providers: { main: http({ … }) }',
      );
    if (routes === undefined && others.length > 0)
      throw new MessagingConfigError(
        `routes: is missing, and there are several providers; say which carries what, such as [{ use: '${only}' }]`,
      );
    if (routes?.length === 0)
      throw new MessagingConfigError(
        `routes: is empty, so no message could leave; add a rule such as { use: '${only}' }`,
      );
    const rules = routes ?? [{ ...EVERYTHING, use: { provider: only } }];
    rules.forEach((rule, index) => this.#check(rule, index, rules));
    this.#rules = rules.map((rule) => ({ ...rule, starts: rule.to && startsOf(rule.to) }));
  }

  /** Provider of every message; `undefined` where it depends on the message. */
  get only(): string | undefined {
    const [first] = this.#rules;
    return first && isForAll(first) ? nameOf(first.use) : undefined;
  }

  /**
   * Provider of all messages of a tenant's channel; `undefined` where it depends on more, or where
   * there is none.
   */
  onlyOf(of: Pick<RoutedMessage, 'tenant' | 'channel'>): string | undefined {
    const rule = this.#rules.find(
      ({ channel, tenant }) =>
        (channel ?? of.channel) === of.channel && (tenant ?? of.tenant) === of.tenant,
    );
    const isOfAll =
      rule &&
      !rule.to &&
      rule.from === undefined &&
      rule.category === undefined &&
      rule.maxPrice === undefined;
    const name = isOfAll ? nameOf(rule.use) : undefined;
    return name !== undefined && this.#carries(name, of.channel) ? name : undefined;
  }

  /** The route of each recipient of a message; `undefined`: no rule fits, or none of its providers. */
  routesOf(message: RoutedMessage): (recipient: string) => RouteOf | undefined {
    const fitting = this.#fittingFor(message);
    const { channel } = message;
    const [first] = fitting;
    if (!first?.starts && !first?.compared) return () => carried(first);
    return (recipient) => {
      for (const route of fitting)
        if (!route.starts || isIn(route.starts, recipient))
          return carried(
            route.compared ? this.#compared(route, channel, recipient, route.compared) : route,
          );
      return undefined;
    };
  }

  /**
   * Providers of a submission of the route, in the order in which it may try them.
   * @param id of the submission
   */
  candidates({ use, providers, best }: RouteOf, id: string): readonly string[] {
    if (providers.length === 1) return providers;
    const rank = (all: readonly string[]) => {
      const names = all.filter((name) => providers.includes(name));
      return (best && this.best?.orderOf({ names, ...best }, id)) ?? names;
    };
    const names = new Set(namesOf(use, id, '', rank));
    return providers.length === names.size
      ? [...names]
      : [...names].filter((name) => providers.includes(name));
  }

  /** Why `best()` gives the submission to the provider; `null`: it does not choose, or by its order alone. */
  reasonFor({ use, providers, best }: RouteOf, id: string, provider: string): string | null {
    if (!best || providers.length === 1) return null;
    const all = bestIn(use).find((one) => one.includes(provider)) ?? [];
    const names = all.filter((name) => providers.includes(name));
    return (names.length > 1 && this.best?.reasonOf({ names, ...best }, id)) || null;
  }

  /** Before a plan: the figures that `best()` compares are read again where they are too old. */
  async refreshed(): Promise<void> {
    if (this.best && this.usesBest) await this.best.refreshed();
  }

  get usesBest(): boolean {
    return this.#rules.some(({ use }) => bestIn(use).length > 0);
  }

  /**
   * The first recipients of a message without a route, and the provider of their rule, which does not
   * carry the channel; `undefined`: each has a route.
   */
  unrouted(
    message: RoutedMessage,
    recipients: readonly string[],
  ): { readonly recipients: readonly string[]; readonly provider: string | undefined } | undefined {
    const fitting = this.#fittingFor(message);
    const [only] = fitting;
    if (only && !only.starts && !only.compared && only.providers.length > 0) return undefined;
    const routeOf = this.routesOf(message);
    const without: string[] = [];
    for (const recipient of recipients) {
      if (without.length >= MOST_NAMED) break;
      if (!routeOf(recipient)) without.push(recipient);
    }
    const [first] = without;
    if (first === undefined) return undefined;
    const rule = fitting.find(({ starts }) => !starts || isIn(starts, first))?.rule;
    return { recipients: without, provider: rule && namesIn(rule.use)[0] };
  }

  /**
   * Provider of a channel whose messages are all carried alike, or of a message without a recipient.
   * @param of what is not known of it fits every rule
   * @throws NoRouteError where no rule fits, or its provider does not carry the channel
   */
  providerOf(of: Pick<RoutedMessage, 'channel'> & Partial<RoutedMessage>): string {
    const given = { ...of, category: of.content && this.#categoryOf(of.channel, of.content) };
    const fits = (rule: RouteRule, field: 'channel' | 'tenant' | 'category') =>
      given[field] === undefined || (rule[field] ?? given[field]) === given[field];
    const rule = this.#rules.find(
      (one) =>
        fits(one, 'channel') &&
        fits(one, 'tenant') &&
        fits(one, 'category') &&
        (of.sender === undefined || (one.from ?? of.sender) === of.sender),
    );
    const names = rule ? namesIn(rule.use) : [];
    const carrying = names.find((name) => this.#carries(name, of.channel));
    if (carrying === undefined) throw new NoRouteError(of.channel, names[0]);
    return carrying;
  }

  /**
   * Kinds of senders that a provider of the channel takes; `undefined`: every kind, or no rule fits.
   * @throws NoRouteError where rules fit, and none of their providers carries the channel
   */
  sendersOf(of: Pick<RoutedMessage, 'tenant' | 'channel'>): readonly SenderKind[] | undefined {
    const rules = this.#rules.filter(
      ({ channel, tenant }) =>
        (channel ?? of.channel) === of.channel && (tenant ?? of.tenant) === of.tenant,
    );
    const names = rules
      .flatMap(({ use }) => namesIn(use))
      .filter((name) => this.#carries(name, of.channel));
    const [first] = rules;
    if (!first) return undefined;
    if (names.length === 0) throw new NoRouteError(of.channel, namesIn(first.use)[0]);
    const kinds = new Set<SenderKind>();
    for (const name of names) {
      const { senders } = this.providers.get(name)!.capabilities;
      if (!senders) return undefined;
      for (const kind of senders) kinds.add(kind);
    }
    return [...kinds];
  }

  #fittingFor({ tenant, channel, sender, content }: RoutedMessage) {
    const category = this.#categoryOf(channel, content);
    const key = this.#needsMessage ? JSON.stringify([tenant, channel, sender, category]) : channel;
    const known = this.#fitting.get(key);
    if (known) return known;
    const fitting = [];
    for (const rule of this.#rules) {
      const fits =
        (rule.channel ?? channel) === channel &&
        (rule.tenant ?? tenant) === tenant &&
        (rule.from ?? sender) === sender &&
        (rule.category ?? category) === category;
      if (!fits) continue;
      const providers = namesIn(rule.use).filter((name) => this.#carries(name, channel));
      fitting.push({
        rule,
        use: rule.use,
        providers,
        ...((comparesCosts(rule) || bestIn(rule.use).length > 0) && {
          compared: new Map<string, RouteOf>(),
        }),
        ...(rule.starts && { starts: rule.starts }),
      });
      if (!rule.starts) break;
    }
    this.#fitting.set(key, fitting);
    keepNewest(this.#fitting, MOST_REMEMBERED);
    return fitting;
  }

  /** The same object for all recipients with the same order, as they share submissions. */
  #compared(
    { rule, providers }: RouteOf,
    channel: string,
    recipient: string,
    known: Map<string, RouteOf>,
  ): RouteOf | undefined {
    const order = comparesCosts(rule)
      ? byCost(providers, this.costs, recipient, rule.maxPrice)
      : providers;
    const best =
      bestIn(rule.use).length > 0 ? { channel, country: countryOf(recipient) } : undefined;
    const key = [best?.country, ...order].join(' ');
    let route = known.get(key);
    if (!route) {
      const use = within(rule.use, order, rule.maxPrice !== undefined);
      route = {
        rule,
        use: use ?? rule.use,
        providers: use ? namesIn(use).filter((name) => providers.includes(name)) : [],
        ...(best && { best }),
      };
      known.set(key, route);
    }
    return route;
  }

  get #needsMessage(): boolean {
    return this.#rules.some(
      ({ tenant, from, category }) =>
        tenant !== undefined || from !== undefined || category !== undefined,
    );
  }

  #categoryOf(channel: string, content: MessageContent): string | undefined {
    return this.channels?.priceCategoryOf(channel, content) ?? undefined;
  }

  #check(rule: RouteRule, index: number, rules: readonly RouteRule[]): void {
    const option = `routes[${index}]`;
    const names = namesIn(rule.use);
    const unknown = names.find((name) => !this.providers.has(name));
    if (unknown !== undefined)
      throw new MessagingConfigError(
        `${option}.use: there is no provider '${unknown}'; there are ${[...this.providers.keys()].join(', ')}`,
      );
    const { channel } = rule;
    const deaf =
      channel === undefined ? undefined : names.find((name) => !this.#carries(name, channel));
    if (deaf !== undefined)
      throw new MessagingConfigError(
        `${option}: provider ${deaf} does not carry the channel ${channel}; use another provider`,
      );
    const uncosted = comparedIn(rule).find((name) => !this.costs.has(name));
    if (uncosted !== undefined)
      throw new MessagingConfigError(
        `${option}.${rule.maxPrice === undefined ? 'use' : 'maxPrice'}: provider ${uncosted} has no prices to compare; give it the option prices, such as { '234': '0.0030' }`,
      );
    const twice = alternativesIn(rule.use).find((name, place, all) => all.indexOf(name) < place);
    if (twice !== undefined)
      throw new MessagingConfigError(`${option}.use: tries provider ${twice} twice; name it once`);
    const before = rules.findIndex((other, place) => place < index && covers(other, rule));
    if (before >= 0)
      throw new MessagingConfigError(
        `${option}: can never match, because routes[${before}] matches first; move it before that, or remove it`,
      );
  }

  #carries(provider: string, channel: string): boolean {
    const channels: readonly string[] | undefined =
      this.providers.get(provider)?.capabilities.channels;
    return !channels || channels.includes(channel);
  }
}

/**
 * Checks the rules of `routes` without the providers themselves: their form, the names in them, and
 * that each can match.
 * @param providers their names
 * @param compared names of those with the option `prices`
 * @param best the option `best`, to be checked too
 * @throws MessagingConfigError naming the rule and the remedy
 */
export function checkRoutes(
  routes: readonly Route[],
  providers: readonly string[],
  compared: readonly string[] = [],
  best?: unknown,
): void {
  readBest('best', best);
  const rules = routes.map((route, n) => readRoute(`routes[${n}]`, route));
  const capabilities = { maxRecipients: 1, idempotencyWindow: 0 };
  const costs = new Map(compared.map((name) => [name, new ProviderCosts(new Map())]));
  new Router(rules, new Map(providers.map((name) => [name, { capabilities }])), undefined, costs);
}

/** Sets of conditions whose rules are remembered. */
const MOST_REMEMBERED = 10_000;

const EVERYTHING = {
  channel: undefined,
  tenant: undefined,
  to: undefined,
  from: undefined,
  category: undefined,
  maxPrice: undefined,
};

/** Prefixes, by their lengths. */
interface Starts {
  readonly lengths: readonly number[];
  readonly prefixes: ReadonlySet<string>;
}

function startsOf(prefixes: readonly string[]): Starts {
  const lengths = [...new Set(prefixes.map(({ length }) => length))];
  return { lengths, prefixes: new Set(prefixes) };
}

function isIn({ lengths, prefixes }: Starts, recipient: string): boolean {
  for (const length of lengths) if (prefixes.has(recipient.slice(0, length))) return true;
  return false;
}

function countryOf(recipient: string): string {
  const address = addressOfKey(recipient);
  return address.kind === 'phone' ? countryOfNumber(address.value) : '';
}

function carried(route: RouteOf | undefined): RouteOf | undefined {
  return route && route.providers.length > 0 ? route : undefined;
}

function isForAll({ channel, tenant, to, from, category, maxPrice }: RouteRule): boolean {
  return [channel, tenant, to, from, category, maxPrice].every((one) => one === undefined);
}

/** Whether each message of `rule` fits `other`, too. */
function covers(other: RouteRule, rule: RouteRule): boolean {
  const isWider = (['channel', 'tenant', 'from', 'category'] as const).every(
    (field) => other[field] === undefined || other[field] === rule[field],
  );
  if (!isWider || !other.to) return isWider;
  return rule.to?.every((prefix) => other.to?.some((start) => prefix.startsWith(start))) ?? false;
}
