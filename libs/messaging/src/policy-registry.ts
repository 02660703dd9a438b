import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { MessageStore } from './store/message-store.js';
import { MessagingConfigError } from './message/errors.js';
import { policiesInOrder } from './policy/policy-order.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from './ports/messaging-settings.js';
import { MESSAGING_POLICY, type MessagingPolicy } from './ports/messaging-policy.js';

/** The built-in policies and those any module of the app provides, in their order. */
@Injectable()
export class PolicyRegistry implements OnModuleInit {
  #policies: readonly MessagingPolicy[] | undefined;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(MessageStore) private readonly store: MessageStore,
  ) {}

  /** @throws MessagingConfigError at boot where the options name a policy there is not, or one is lost */
  onModuleInit(): void {
    for (const { metatype } of this.modules.values()) refuseLost(metatype);
    void this.policies;
  }

  get policies(): readonly MessagingPolicy[] {
    return (this.#policies ??= policiesInOrder(
      this.settings.policy ?? {},
      this.#own(),
      this.store.recentSends,
    ));
  }

  #own(): MessagingPolicy[] {
    const provided = this.discovery
      .getProviders()
      .filter(({ token }) => token === MESSAGING_POLICY)
      .flatMap(({ instance }) => instance as unknown);
    return [...new Set(provided)].map((policy) => {
      if (!isPolicy(policy))
        throw new MessagingConfigError(
          'MESSAGING_POLICY: must provide a policy, with a name and decide(), or an array of them',
        );
      return policy;
    });
  }
}

/** Of several providers with one token in a module, Nest keeps the last. */
function refuseLost(module: Type): void {
  const providers = (Reflect.getMetadata('providers', module) ?? []) as (
    | { readonly provide?: unknown }
    | undefined
  )[];
  if (providers.filter((one) => one?.provide === MESSAGING_POLICY).length > 1)
    throw new MessagingConfigError(
      `MESSAGING_POLICY: ${module.name} provides it more than once, and all but the last would be lost; provide an array, { provide: MESSAGING_POLICY, useFactory: (...all) => all, inject: [A, B] }`,
    );
}

function isPolicy(value: unknown): value is MessagingPolicy {
  const { name, decide } = (value ?? {}) as Partial<Record<keyof MessagingPolicy, unknown>>;
  return typeof name === 'string' && name !== '' && typeof decide === 'function';
}
