import { NoRouteError } from '../message/errors.js';
import type { Route } from '../ports/route.js';

/** What a route is chosen by. */
export interface Routed {
  readonly channel: string;
}

/** Answers which provider carries a message: the first route that matches decides. */
export class Router {
  /** @param routes in order; each names a configured provider */
  constructor(private readonly routes: readonly Route[]) {}

  /** The provider of every message; `undefined`: it depends on the message. */
  get only(): string | undefined {
    const [first] = this.routes;
    return first && first.channel === undefined ? first.use : undefined;
  }

  /** @throws NoRouteError where no route matches */
  providerOf({ channel }: Routed): string {
    for (const route of this.routes)
      if (route.channel === undefined || route.channel === channel) return route.use;
    throw new NoRouteError(channel);
  }
}
