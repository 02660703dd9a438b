import { ConfigurableModuleBuilder, type Provider } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DataSource } from 'typeorm';
import {
  CALLBACK_PATH,
  CallbackEndpoints,
  DEFAULT_CALLBACK_FORM,
} from './callbacks/callback-endpoints.js';
import { CallbacksService } from './callbacks/callbacks.service.js';
import { callbackController } from './callbacks/callback.controller.js';
import { RawBodyCheck } from './callbacks/callback.controller.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { MessagingConfigError } from './message/errors.js';
import { interfaceCallbacks } from './providers/http/interface-callbacks.js';
import { extrasOf, MESSAGING_EXTRAS } from './ports/messaging-extras.js';
import { MESSAGING_OPTIONS, type MessagingOptions } from './ports/messaging-options.js';
import type { Token } from './ports/token.js';

export const MESSAGING_DATA_SOURCE = Symbol('MESSAGING_DATA_SOURCE') as Token<DataSource>;

const CALLBACK_PROVIDERS: Provider[] = [
  CallbacksService,
  CallbackEndpoints,
  RawBodyCheck,
  { provide: DEFAULT_CALLBACK_FORM, useFactory: interfaceCallbacks, inject: [ChannelRegistry] },
];

export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<MessagingOptions>({
  optionsInjectionToken: MESSAGING_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createMessagingOptions')
  .setExtras(MESSAGING_EXTRAS, (definition, extras) => {
    const extra = extrasOf(extras);
    const { isGlobal, dataSource, callbackPath, callbackDecorators, overrides } = extra;
    return {
      ...definition,
      global: isGlobal,
      controllers:
        callbackPath === false ? [] : [callbackController(callbackPath, callbackDecorators)],
      // For controllers of the app's own.
      exports: [...(definition.exports ?? []), CallbacksService],
      providers: [
        ...(definition.providers ?? []),
        ...CALLBACK_PROVIDERS,
        { provide: CALLBACK_PATH, useValue: callbackPath },
        {
          provide: MESSAGING_DATA_SOURCE,
          // Nest's token of a named data source.
          useExisting: dataSource === 'default' ? DataSource : `${dataSource}DataSource`,
        },
        // Nest takes the later one of two providers with one token.
        ...overrides,
      ],
    };
  })
  .build();

/**
 * Two modules would call the same listeners and policies, take callbacks at one path, and on one data
 * source send each other's messages.
 * @throws MessagingConfigError where the app has another one
 */
export function requireOnly(modules: ModulesContainer): void {
  const all = [...modules.values()].filter(({ providers }) => providers.has(MESSAGING_OPTIONS));
  if (all.length > 1)
    throw new MessagingConfigError(
      'MessagingModule: forRoot() is called more than once in this app; call it once, with isGlobal: true where several modules inject its services, and with several providers and routes where messages leave by several',
    );
}
