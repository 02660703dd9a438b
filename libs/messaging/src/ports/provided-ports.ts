import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { MessagingConfigError } from '../message/errors.js';
import {
  type InboundListener,
  InboundListeners,
  MESSAGING_INBOUND_LISTENER,
} from './inbound-listener.js';
import {
  MESSAGING_STATUS_LISTENER,
  type StatusListener,
  StatusListeners,
} from './status-listener.js';

/** Finds the instances that the app's modules provide under the tokens of ports with several providers. */
@Injectable()
export class ProvidedPorts implements OnModuleInit {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(StatusListeners) private readonly statuses: StatusListeners,
    @Inject(InboundListeners) private readonly inbound: InboundListeners,
  ) {}

  /** @throws MessagingConfigError at boot where a provider is no listener, or is overridden by another one */
  onModuleInit(): void {
    for (const listener of this.under(
      MESSAGING_STATUS_LISTENER,
      (value): value is StatusListener => has(value, 'onStatusChanged'),
      'a listener, with onStatusChanged()',
    ))
      this.statuses.add(listener);
    for (const listener of this.under(
      MESSAGING_INBOUND_LISTENER,
      (value): value is InboundListener => has(value, 'onInbound'),
      'a listener, with onInbound()',
    ))
      this.inbound.add(listener);
  }

  /**
   * Returns each instance once, in the order of the modules.
   * @param expected description of a valid instance, for the error
   * @throws MessagingConfigError
   */
  under<T>(token: symbol, isPort: (value: unknown) => value is T, expected: string): T[] {
    const name = String(token.description);
    for (const { metatype } of this.modules.values()) refuseLost(metatype, token, name);
    const provided = this.discovery
      .getProviders()
      .filter((one) => one.token === token)
      .flatMap(({ instance }) => instance as unknown);
    return [...new Set(provided)].map((value) => {
      if (!isPort(value))
        throw new MessagingConfigError(`${name}: must provide ${expected}, or an array of them`);
      return value;
    });
  }
}

/** Nest keeps only the last of several providers with the same token in a module. */
function refuseLost(module: Type, token: symbol, name: string): void {
  const providers = (Reflect.getMetadata('providers', module) ?? []) as (
    | { readonly provide?: unknown }
    | undefined
  )[];
  if (providers.filter((one) => one?.provide === token).length > 1)
    throw new MessagingConfigError(
      `${name}: ${module.name} provides it more than once, and Nest keeps only the last; provide an array, { provide: ${name}, useFactory: (...all) => all, inject: [A, B] }`,
    );
}

function has(value: unknown, method: string): boolean {
  return typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function';
}
