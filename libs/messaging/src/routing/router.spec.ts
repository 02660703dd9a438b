import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError, NoRouteError } from '../message/errors.js';
import type { Route } from '../ports/messaging-options.js';
import { type Providers, Router } from './router.js';

function provider(...channels: string[]) {
  const capabilities = { maxRecipients: 1, idempotencyWindow: 0 };
  return { capabilities: channels.length > 0 ? { ...capabilities, channels } : capabilities };
}

const PROVIDERS = new Map<string, unknown>([
  ['main', provider('sms')],
  ['meta', provider('whatsapp')],
  ['any', provider()],
]) as Providers;

describe('Router', () => {
  it('sends everything to the only provider where no routes are given', () => {
    const router = new Router(undefined, new Map([['any', provider()]]));
    expect(router.only).toBe('any');
    expect(router.providerOf({ channel: 'sms' })).toBe('any');
    expect(router.providerOf({ channel: 'whatsapp' })).toBe('any');
  });

  it('uses the first route that matches the channel', () => {
    const router = new Router([{ channel: 'whatsapp', use: 'meta' }, { use: 'main' }], PROVIDERS);
    expect(router.only).toBeUndefined();
    expect(router.providerOf({ channel: 'whatsapp' })).toBe('meta');
    expect(router.providerOf({ channel: 'sms' })).toBe('main');
  });

  it('throws NoRouteError with the remedy for a channel that no route matches', () => {
    const router = new Router([{ channel: 'sms', use: 'main' }], PROVIDERS);
    const route = () => router.providerOf({ channel: 'whatsapp' });
    expect(route).toThrow(NoRouteError);
    expect(route).toThrow(/No route carries the channel whatsapp; add one to `routes`/);
  });

  it('throws NoRouteError where the provider of the route does not carry the channel', () => {
    const router = new Router([{ use: 'main' }], PROVIDERS);
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
    const build = () => new Router(routes, providers);
    expect(build).toThrow(MessagingConfigError);
    expect(build).toThrow(message);
  });
});
