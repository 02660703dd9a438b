import { ConfigurableModuleBuilder, type Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  CALLBACK_PATH,
  CallbackEndpoints,
  DEFAULT_CALLBACK_FORM,
} from './callbacks/callback-endpoints.js';
import { CallbacksService } from './callbacks/callbacks.service.js';
import { callbackController } from './callbacks/callback.controller.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { interfaceCallbacks } from './providers/http/interface-callbacks.js';
import { extrasOf, MESSAGING_EXTRAS } from './ports/messaging-extras.js';
import { MESSAGING_OPTIONS, type MessagingOptions } from './ports/messaging-options.js';
import type { Token } from './ports/token.js';

export const MESSAGING_DATA_SOURCE = Symbol('MESSAGING_DATA_SOURCE') as Token<DataSource>;

const CALLBACK_PROVIDERS: Provider[] = [
  CallbacksService,
  CallbackEndpoints,
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
