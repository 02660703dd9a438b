import { MessagingConfigError, NoRouteError } from '../message/errors.js';
import type { MessageTransport, TransportCapabilities } from '../ports/message-transport.js';
import type { Route } from '../ports/messaging-options.js';

export type Providers = ReadonlyMap<string, Pick<MessageTransport, 'capabilities'>>;

/** Selects the provider of a message: the first matching route decides. */
export class Router {
  readonly #routes: readonly Route[];

  /**
   * @param routes in order; `undefined`: everything to the only provider
   * @throws MessagingConfigError naming the option and the remedy
   */
  constructor(
    routes: readonly Route[] | undefined,
    private readonly providers: Providers,
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
    this.#routes = routes ?? [{ use: only }];
    this.#routes.forEach((route, index) => this.#check(route, index));
  }

  /** Provider of every message; `undefined` where it depends on the message. */
  get only(): string | undefined {
    const [first] = this.#routes;
    return first?.channel === undefined ? first?.use : undefined;
  }

  /** @throws NoRouteError where no route matches, or its provider does not carry the channel */
  providerOf({ channel }: { readonly channel: string }): string {
    const route = this.#routes.find((one) => matches(one, channel));
    if (!route || !this.#carries(route.use, channel)) throw new NoRouteError(channel, route?.use);
    return route.use;
  }

  /** Of the provider of such a message. @throws NoRouteError as {@link providerOf} */
  capabilitiesOf(message: { readonly channel: string }): TransportCapabilities {
    return this.providers.get(this.providerOf(message))!.capabilities;
  }

  #check({ channel, use }: Route, index: number): void {
    const option = `routes[${index}]`;
    if (!this.providers.has(use))
      throw new MessagingConfigError(
        `${option}.use: there is no provider '${use}'; there are ${[...this.providers.keys()].join(', ')}`,
      );
    if (channel !== undefined && !this.#carries(use, channel))
      throw new MessagingConfigError(
        `${option}: provider ${use} does not carry the channel ${channel}; use another provider`,
      );
    const before = this.#routes.findIndex((other) => matches(other, channel));
    if (before < index)
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

function matches(route: Route, channel: string | undefined): boolean {
  return route.channel === undefined || route.channel === channel;
}
