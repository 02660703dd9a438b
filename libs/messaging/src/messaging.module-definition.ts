import { ConfigurableModuleBuilder, type Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CallbackCounts } from './callbacks/callback-counts.js';
import {
  CallbackEndpoints,
  DEFAULT_PARSERS,
  type DefaultParsers,
} from './callbacks/callback-endpoints.js';
import { callbackVerifier } from './callbacks/callback-verifier.js';
import { CallbacksService } from './callbacks/callbacks.service.js';
import { callbackController } from './callbacks/callback.controller.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { InterfaceInboundParser } from './providers/http/interface-inbound.parser.js';
import { InterfaceReportParser } from './providers/http/interface.parser.js';
import { type Clock, MESSAGING_CLOCK } from './ports/clock.js';
import { CALLBACK_VERIFIER, DELIVERY_REPORT_PARSER } from './ports/delivery-report-parser.js';
import {
  type CallbackOptions,
  MESSAGING_OPTIONS,
  type MessagingOptions,
} from './ports/messaging-options.js';
import {
  extrasOf,
  MESSAGING_EXTRAS,
  MESSAGING_SETTINGS,
  type MessagingSettings,
} from './ports/messaging-settings.js';

/** Injection token of the app's data source, also where that has a name. */
export const MESSAGING_DATA_SOURCE = Symbol('MESSAGING_DATA_SOURCE');

const CALLBACK_PROVIDERS: Provider[] = [
  CallbacksService,
  CallbackEndpoints,
  {
    provide: DEFAULT_PARSERS,
    useFactory: (clock: Clock, channels: ChannelRegistry): DefaultParsers => ({
      reports: new InterfaceReportParser(clock, channels),
      inbound: new InterfaceInboundParser(clock, channels),
    }),
    inject: [MESSAGING_CLOCK, ChannelRegistry],
  },
  {
    provide: DELIVERY_REPORT_PARSER,
    useFactory: ({ callbacks }: MessagingSettings, { reports }: DefaultParsers) =>
      callbacks?.parser ?? reports,
    inject: [MESSAGING_SETTINGS, DEFAULT_PARSERS],
  },
  {
    provide: CALLBACK_VERIFIER,
    useFactory: ({ callbacks }: MessagingSettings, clock: Clock) =>
      hasProvidersAlone(callbacks) ? null : callbackVerifier(callbacks, clock),
    inject: [MESSAGING_SETTINGS, MESSAGING_CLOCK],
  },
];

/** Whether only named endpoints exist, so that the callback path itself is closed. */
function hasProvidersAlone({ providers, ...own }: CallbackOptions = {}): boolean {
  return Object.keys(providers ?? {}).length > 0 && Object.keys(own).length === 0;
}

export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<MessagingOptions>({
  optionsInjectionToken: MESSAGING_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createMessagingOptions')
  .setExtras(MESSAGING_EXTRAS, (definition, extras) => {
    const { isGlobal, dataSource, paths } = extrasOf(extras);
    const takesCallbacks = paths.length > 0;
    return {
      ...definition,
      global: isGlobal,
      exports: [...(definition.exports ?? []), CallbackCounts],
      controllers: paths.map(callbackController),
      providers: [
        ...(definition.providers ?? []),
        CallbackCounts,
        ...(takesCallbacks ? CALLBACK_PROVIDERS : []),
        {
          provide: MESSAGING_DATA_SOURCE,
          // Nest's own token of a named data source.
          useExisting: dataSource === undefined ? DataSource : `${dataSource}DataSource`,
        },
      ],
    };
  })
  .build();
