import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError, NoRouteError } from '../message/errors.js';
import {
  cheapest,
  failover,
  readRoute,
  type Route,
  routeUse,
  type RouteUse,
  weighted,
} from '../ports/route-options.js';
import { registryOf } from '../channels/built-in-channels.js';
import { providerCosts, type ProviderCosts } from '../ports/provider-costs.js';
import { type Providers, type RoutedMessage, Router } from './router.js';

function provider(...channels: string[]) {
  const capabilities = { maxRecipients: 1, idempotencyWindow: 0 };
  return { capabilities: channels.length > 0 ? { ...capabilities, channels } : capabilities };
}

const PROVIDERS = new Map<string, unknown>([
  ['main', provider('sms')],
  ['meta', provider('whatsapp')],
  ['any', provider()],
]) as Providers;

function routerOf(routes: readonly Route[] | undefined, providers: Providers = PROVIDERS) {
  return new Router(
    routes?.map((route, n) => readRoute(`routes[${n}]`, route)),
    providers,
    registryOf(),
  );
}

const SMS: RoutedMessage = {
  tenant: 'shop',
  channel: 'sms',
  sender: 'ACME',
  content: { kind: 'text', text: 'x' },
};

/** The providers of a submission to `recipient`, in order. */
function providersOf(router: Router, recipient: string, message = SMS, id = 'b-s0') {
  const route = router.routesOf(message)(recipient);
  return route ? router.candidates(route, id) : undefined;
}

describe('Router', () => {
  it('the router sends every message to the only provider where no routes are given', () => {
    const router = routerOf(undefined, new Map([['any', provider()]]));
    expect(router.only).toBe('any');
    expect(router.providerOf({ channel: 'sms' })).toBe('any');
    expect(router.providerOf({ channel: 'whatsapp' })).toBe('any');
  });

  it('the router uses the first route that matches the channel', () => {
    const router = routerOf([{ channel: 'whatsapp', use: 'meta' }, { use: 'main' }], PROVIDERS);
    expect(router.only).toBeUndefined();
    expect(router.providerOf({ channel: 'whatsapp' })).toBe('meta');
    expect(router.providerOf({ channel: 'sms' })).toBe('main');
  });

  it('throws NoRouteError with the remedy for a channel that no route matches', () => {
    const router = routerOf([{ channel: 'sms', use: 'main' }], PROVIDERS);
    const route = () => router.providerOf({ channel: 'whatsapp' });
    expect(route).toThrow(NoRouteError);
    expect(route).toThrow(/No route carries the channel whatsapp; add one to `routes`/);
  });

  it('throws NoRouteError where the provider of the route does not carry the channel', () => {
    const router = routerOf([{ use: 'main' }], PROVIDERS);
    expect(() => router.providerOf({ channel: 'whatsapp' })).toThrow(
      /^Provider main does not carry the channel whatsapp/,
    );
  });

  it.each<[string, readonly Route[] | undefined, Providers, RegExp]>([
    ['no provider', undefined, new Map(), /^providers: is empty/],
    ['several providers without routes', undefined, PROVIDERS, /^routes: is missing.*'main'/],
    ['no route', [], PROVIDERS, /^routes: is empty/],
    ['an unknown provider', [{ use: 'x' }], PROVIDERS, /^routes\[0\]\.use: .*main, meta, any$/],
    [
      'a channel that its provider does not carry',
      [{ channel: 'sms', use: 'meta' }],
      PROVIDERS,
      /^routes\[0\]: provider meta does not carry the channel sms/,
    ],
    [
      'a route behind one that matches everything',
      [{ use: 'any' }, { channel: 'sms', use: 'main' }],
      PROVIDERS,
      /^routes\[1\]: can never match, because routes\[0\] matches first/,
    ],
  ])('refuses %s by name, with the remedy', (_, routes, providers, message) => {
    const build = () => routerOf(routes, providers);
    expect(build).toThrow(MessagingConfigError);
    expect(build).toThrow(message);
  });

  it('the router gives a recipient the first rule whose conditions all fit', () => {
    const router = routerOf([
      { channel: 'sms', tenant: 'bank', use: 'any' },
      { channel: 'sms', to: ['+234 803', '234806'], use: 'main' },
      { channel: 'sms', to: ['234'], from: 'ACME', use: 'any' },
      { channel: 'whatsapp', category: 'marketing', use: 'any' },
      { channel: 'whatsapp', use: 'meta' },
    ]);
    expect(providersOf(router, '2348030000000')).toEqual(['main']);
    expect(providersOf(router, '2348060000000')).toEqual(['main']);
    expect(providersOf(router, '2348010000000')).toEqual(['any']);
    expect(providersOf(router, '2348010000000', { ...SMS, sender: 'OTHER' })).toBeUndefined();
    expect(providersOf(router, '2348030000000', { ...SMS, tenant: 'bank' })).toEqual(['any']);
    expect(providersOf(router, '233200000000')).toBeUndefined();
    const template = { kind: 'template', template: 'x', language: 'en', params: [] } as const;
    const whatsapp = { ...SMS, channel: 'whatsapp' };
    const marketing = { ...template, category: 'marketing' } as const;
    expect(providersOf(router, '2348', { ...whatsapp, content: marketing })).toEqual(['any']);
    expect(providersOf(router, '2348', { ...whatsapp, content: template })).toEqual(['meta']);
  });

  it('the router names the recipients without a route', () => {
    const router = routerOf([{ channel: 'sms', to: ['234'], use: 'main' }]);
    expect(router.unrouted(SMS, ['2348012345678', '2347012345678'])).toBeUndefined();
    expect(router.unrouted(SMS, ['2348012345678', '233200000000'])).toEqual({
      recipients: ['233200000000'],
      provider: undefined,
    });
  });

  it('orders the providers of a failover, without those that do not carry the channel', () => {
    const router = routerOf([{ use: failover('meta', failover('main', 'any')) }]);
    expect(providersOf(router, '2348')).toEqual(['main', 'any']);
    expect(providersOf(router, '2348', { ...SMS, channel: 'whatsapp' })).toEqual(['meta', 'any']);
  });

  it('shares 10,000 submissions by weight within two points, the same for the same submission', () => {
    const router = routerOf([{ use: failover(weighted({ main: 70, any: 30 }), 'meta') }]);
    const all = Array.from({ length: 10_000 }, (_, n) => `0198-${n}-s${n % 3}`);
    const message = { ...SMS, channel: 'sms' };
    const first = all.map((id) => providersOf(router, '2348', message, id)?.[0]);
    const share = first.filter((name) => name === 'main').length / 100;
    expect(share).toBeGreaterThan(68);
    expect(share).toBeLessThan(72);
    expect(all.map((id) => providersOf(router, '2348', message, id)?.[0])).toEqual(first);
  });

  it('the router shares submissions by weight among nested choices', () => {
    const use = weighted([
      { use: failover('main', 'any'), weight: 1 },
      { use: 'any', weight: 3 },
    ]);
    const router = routerOf([{ use }]);
    const all = Array.from({ length: 4_000 }, (_, n) =>
      providersOf(router, '2348', SMS, `b-s${n}`),
    );
    const pairs = all.filter((names) => names?.length === 2);
    expect(pairs[0]).toEqual(['main', 'any']);
    expect(pairs.length / 40).toBeGreaterThan(22);
    expect(pairs.length / 40).toBeLessThan(28);
  });

  it('onlyOf() names the provider of a channel only where no rule can choose another one', () => {
    const router = routerOf([
      { channel: 'whatsapp', use: 'meta' },
      { channel: 'sms', tenant: 'bank', use: failover('main', 'any') },
      { channel: 'sms', to: ['234'], use: 'main' },
      { use: 'any' },
    ]);
    expect(router.onlyOf({ tenant: '', channel: 'whatsapp' })).toBe('meta');
    expect(router.onlyOf({ tenant: '', channel: 'sms' })).toBeUndefined();
    expect(router.onlyOf({ tenant: '', channel: 'email' })).toBe('any');
  });

  it.each<[string, Route | { readonly use: unknown }, RegExp]>([
    ['no use', {} as Route, /^routes\[0\]\.use: must be the name of a provider, failover/],
    ['no prefix', { to: [], use: 'any' }, /^routes\[0\]\.to: is empty/],
    ['an empty prefix', { to: ['234', ''], use: 'any' }, /^routes\[0\]\.to\[1\]: is empty/],
    ['an unknown condition', { network: '62130', use: 'any' } as Route, /^routes\[0\]\.network: /],
    ['a failover of one', { use: { failover: ['any'] } }, /^routes\[0\]\.use: must be/],
    [
      'a weight of zero',
      { use: weighted({ any: 0 }) },
      /^routes\[0\]\.use\.weighted\.any: must have a weight above zero/,
    ],
    [
      'a provider twice in a failover',
      { use: failover('any', 'any') },
      /^routes\[0\]\.use: tries provider any twice/,
    ],
    [
      'an unknown provider in a choice',
      { use: failover('any', weighted({ x: 1, main: 1 })) },
      /^routes\[0\]\.use: there is no provider 'x'/,
    ],
  ])('refuses a rule with %s by name', (_, route, message) => {
    const build = () => routerOf([route as Route]);
    expect(build).toThrow(MessagingConfigError);
    expect(build).toThrow(message);
  });

  it('refuses a rule whose prefixes an earlier rule has', () => {
    const build = (second: Route) => () =>
      routerOf([{ channel: 'sms', to: ['234', '233'], use: 'main' }, second]);
    expect(build({ channel: 'sms', to: ['234803'], use: 'any' })).toThrow(
      /^routes\[1\]: can never/,
    );
    expect(build({ channel: 'sms', to: ['234803', '1'], use: 'any' })).not.toThrow();
    expect(build({ channel: 'sms', use: 'any' })).not.toThrow();
  });

  it('a choice in a configuration file equals that of the functions', () => {
    const written: RouteUse = { failover: ['a', { weighted: { b: 1, c: 2 } }] };
    expect(routeUse('use', written)).toEqual(
      routeUse('use', failover('a', weighted({ b: 1, c: 2 }))),
    );
  });
});

describe('costs of a route', () => {
  const THREE = new Map(['a', 'b', 'c'].map((name) => [name, provider()])) as Providers;
  const PRICES: Record<string, Record<string, string>> = {
    a: { '234': '0.0100', '234803': '0.0020', '*': '0.05' },
    b: { '+234': '0.003' },
    c: { '*': '0.0030' },
  };
  function comparing(route: Route, tables = PRICES): Router {
    const prices = new Map<string, ProviderCosts>(
      Object.entries(tables).map(([name, table]) => [
        name,
        providerCosts(`providers.${name}.prices`, table),
      ]),
    );
    return new Router([readRoute('routes[0]', route)], THREE, undefined, prices);
  }

  it('cheapest() tries the lowest cost of the longest prefix first, and equal costs in their order', () => {
    const router = comparing({ use: cheapest('a', 'b', 'c') });
    expect(providersOf(router, '2348031234567')).toEqual(['a', 'b', 'c']);
    expect(providersOf(router, '2348101234567')).toEqual(['b', 'c', 'a']);
    expect(providersOf(router, '14155550123')).toEqual(['c', 'a']);
  });

  it('recipients with the same order share one route', () => {
    const routeOf = comparing({ use: cheapest('a', 'b') }).routesOf(SMS);
    expect(routeOf('2348101234567')).toBe(routeOf('2348151234567'));
    expect(routeOf('2348101234567')).not.toBe(routeOf('2348031234567'));
  });

  it('a recipient for which no provider is within maxPrice, or has a cost, has no route', () => {
    const router = comparing({ maxPrice: '0.0030', use: cheapest('a', 'b') });
    expect(providersOf(router, '2348031234567')).toEqual(['a', 'b']);
    expect(providersOf(router, '2348101234567')).toEqual(['b']);
    expect(router.unrouted(SMS, ['2348101234567', '14155550123'])?.recipients).toEqual([
      '14155550123',
    ]);
    expect(router.onlyOf(SMS)).toBeUndefined();
    const only = comparing({ maxPrice: '0.002', use: 'b' });
    expect([only.only, providersOf(only, '2348101234567')]).toEqual([undefined, undefined]);
  });

  it('maxPrice also holds for the providers of failover() and weighted()', () => {
    const use = failover(weighted({ a: 50, b: 50 }), 'c');
    expect(providersOf(comparing({ maxPrice: '0.0030', use }), '2348101234567')).toEqual([
      'b',
      'c',
    ]);
    const behind = comparing({ use: failover('a', cheapest('b', 'c')) });
    expect(providersOf(behind, '14155550123')).toEqual(['a', 'c']);
  });

  it('a provider without prices, and a wrong price, are refused by name', () => {
    expect(() => comparing({ use: cheapest('a', 'b') }, { a: PRICES['a']! })).toThrow(
      'routes[0].use: provider b has no prices',
    );
    expect(() => comparing({ maxPrice: '1', use: 'b' }, {})).toThrow(
      'routes[0].maxPrice: provider b',
    );
    expect(() => comparing({ maxPrice: 'much' as '1', use: 'b' })).toThrow('routes[0].maxPrice');
    expect(() => comparing({ use: 'b' }, { b: { x: '1' } })).toThrow('providers.b.prices');
    expect(() => comparing({ use: 'b' }, { b: { '1': '1,2' } })).toThrow('providers.b.prices.1');
    expect(() => routerOf([{ use: { cheapest: ['main'] } as unknown as RouteUse }])).toThrow(
      'cheapest',
    );
  });
});
