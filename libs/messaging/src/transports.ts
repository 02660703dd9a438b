import { Inject, type Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { MessagingConfigError, namingProvider } from './message/errors.js';
import type {
  InjectedTransport,
  MessageTransport,
  TransportContext,
  Transports,
  TransportSource,
} from './ports/message-transport.js';
import type { MessagingSettings } from './ports/messaging-settings.js';
import { wholeNumber } from './ports/option-schema.js';

/** @throws MessagingConfigError without a transport, or where a capability prevents all sending */
export async function transportsOf(
  { providers, transport }: MessagingSettings,
  context: TransportContext,
  module: ModuleRef,
): Promise<Transports> {
  const made = async (option: string, source: TransportSource) => {
    const make = () => (typeof source === 'function' ? source(context) : injected(source, module));
    return checked(option, await namingProvider(option, make));
  };
  if (providers) {
    const transports = new Map<string, MessageTransport>();
    for (const [name, provider] of Object.entries(providers))
      transports.set(name, await made(`providers.${name}`, provider.transport));
    return transports;
  }
  if (!transport)
    throw new MessagingConfigError(
      'transport: is missing; set it to http({ baseUrl, apiToken }), or to simulator() for development',
    );
  const only = await made('transport', transport);
  return new Map([[only.name, only]]);
}

async function injected(source: InjectedTransport, module: ModuleRef): Promise<MessageTransport> {
  if ('useClass' in source) return module.create(source.useClass);
  const { useFactory, inject = [] } = source;
  const make = useFactory as (...dependencies: unknown[]) => ReturnType<typeof useFactory>;
  // Nest injects into classes only.
  class Dependencies {
    readonly all: readonly unknown[];
    constructor(...all: unknown[]) {
      this.all = all;
    }
  }
  for (const [place, token] of inject.entries()) Inject(token)(Dependencies, undefined, place);
  Reflect.defineMetadata(
    'design:paramtypes',
    inject.map(() => Object),
    Dependencies,
  );
  const { all } = await module.create(Dependencies as Type<Dependencies>);
  return make(...all);
}

/** @throws MessagingConfigError for a value that is no transport, or whose capabilities prevent all sending */
function checked(option: string, transport: MessageTransport): MessageTransport {
  if (typeof transport?.submit !== 'function' || typeof transport.capabilities !== 'object')
    throw new MessagingConfigError(
      `${option}: makes no MessageTransport; it needs name, capabilities and submit()`,
    );
  const { maxRecipients, maxShared = maxRecipients, connections = 1 } = transport.capabilities;
  for (const [name, value] of Object.entries({ maxRecipients, maxShared, connections }))
    wholeNumber(`${option}.capabilities.${name}`, value);
  return transport;
}
