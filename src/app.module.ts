import {
  type EngineFactory,
  MESSAGING_TEMPLATE_LISTENER,
  MessagingModule,
  type MessagingOptions,
  type PriceList,
  type RateCard,
} from '@dundun/messaging';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { AccountSettings } from './accounts/account-settings.js';
import { AccountsModule } from './accounts/accounts.module.js';
import { SmsIntakeModule } from './accounts/sms-intake.js';
import { WhatsAppNumbers } from './accounts/senders.js';
import { callbackPathOf, carrierCallbacks, isSimulated, META_RATE, waysOut } from './carriers.js';
import { usesMeta } from './config/carriers-file.js';
import { databaseModule } from './config/database.js';
import { type Environment, EnvironmentModule } from './config/environment.js';
import { DomainChecks } from './email/domain-checks.js';
import { DomainsController } from './email/domains.controller.js';
import { EmailDomainsModule } from './email/email-domains.module.js';
import { MailRelay } from './email/mail-relay.js';
import { SenderDomains } from './email/sender-domains.js';
import { SuppressionsController } from './email/suppressions.controller.js';
import { UnsubscribeController } from './email/unsubscribe.controller.js';
import { EmailModule } from './email/email.module.js';
import { GroupsController } from './groups/groups.controller.js';
import { HealthModule } from './health/health.controller.js';
import { MemoryRelease } from './memory-release.js';
import { MetricsModule } from './metrics/metrics.js';
import { PortalErrorFilter } from './portal/portal-controller.js';
import { PortalModule, PortalUsersModule } from './portal/portal.module.js';
import { digestKeyOf } from './secrets/digest-key.js';
import { Secrets, SecretsModule } from './secrets/secrets.js';
import { SmsController } from './sms/sms.controller.js';
import { SmppModule, SmppStoreModule } from './smpp/smpp.module.js';
import { CallersModule } from './voice/callers.module.js';
import { VoiceController } from './voice/voice.controller.js';
import { VasModule } from './vas/vas.module.js';
import { WebhookEndpointsModule, WebhooksModule } from './webhooks/webhooks.module.js';
import { ContactsController } from './whatsapp/contacts.controller.js';
import { WhatsAppTemplateSync } from './whatsapp/template-sync.js';
import { WhatsAppController } from './whatsapp/whatsapp.controller.js';

@Module({})
export class AppModule {
  /** @param engine without one, each process finds its lanes by polling the database */
  static for(
    environment: Environment,
    dataSource: DataSource,
    engine?: EngineFactory,
  ): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ...foundation(environment, dataSource, { enabled: environment.ROLE !== 'api', engine }),
        MetricsModule,
        SmsIntakeModule,
        EmailModule,
        WebhooksModule,
        CallersModule,
        EmailDomainsModule,
        VasModule,
        HealthModule,
        SmppModule,
        ...(environment.ROLE === 'worker' ? [] : [PortalModule.for()]),
      ],
      controllers: [
        SmsController,
        GroupsController,
        WhatsAppController,
        ContactsController,
        VoiceController,
        DomainsController,
        SuppressionsController,
        UnsubscribeController,
      ],
      providers: [
        { provide: APP_FILTER, useClass: PortalErrorFilter },
        DomainChecks,
        MemoryRelease,
        WhatsAppTemplateSync,
        { provide: MESSAGING_TEMPLATE_LISTENER, useExisting: WhatsAppTemplateSync },
      ],
    };
  }
}

/** The modules of the command line: the same database and accounts, without dispatch. */
@Module({})
export class OperatorModule {
  static for(environment: Environment, dataSource: DataSource): DynamicModule {
    return {
      module: OperatorModule,
      imports: [
        ...foundation(environment, dataSource),
        WebhookEndpointsModule,
        CallersModule,
        EmailDomainsModule,
        SmppStoreModule,
        PortalUsersModule,
      ],
    };
  }
}

/** Prices of calls, and of WhatsApp messages where their carrier says only that it bills them. */
function rateCardOf(environment: Environment): RateCard {
  const { VOICE_PRICE, WHATSAPP_PRICES } = environment;
  const lists: readonly PriceList[] = usesMeta(environment)
    ? [VOICE_PRICE.prices, WHATSAPP_PRICES]
    : [VOICE_PRICE.prices];
  return {
    price: ({ channel, category }) => {
      const list = lists.find((prices) => Object.hasOwn(prices, channel));
      const own = list?.[channel];
      const amount =
        typeof own === 'object' ? new Map(Object.entries(own)).get(category ?? '') : own;
      return list && amount !== undefined ? { amount, currency: list.currency } : undefined;
    },
  };
}

/** Without `dispatch` nothing is sent, and the carrier's callbacks are not served. */
function foundation(
  environment: Environment,
  dataSource: DataSource,
  dispatch?: MessagingOptions['dispatch'],
): DynamicModule['imports'] & object {
  const callbacks = carrierCallbacks(environment);
  // The carrier's callbacks are not served by workers either.
  const listens = dispatch !== undefined && environment.ROLE !== 'worker';
  const messaging = MessagingModule.forRootAsync({
    isGlobal: true,
    callbackPath: dispatch && callbacks ? callbackPathOf(environment) : false,
    imports: [AccountsModule, EmailDomainsModule],
    inject: [AccountSettings, WhatsAppNumbers, SenderDomains, Secrets, MailRelay],
    useFactory: async (
      settings: AccountSettings,
      numbers: WhatsAppNumbers,
      domains: SenderDomains,
      secrets: Secrets,
      relay: MailRelay,
    ): Promise<MessagingOptions> => ({
      ...(await waysOut(environment, relay, listens, (number) => numbers.phoneNumberIdOf(number))),
      // The templates of each account are in the database.
      whatsapp: { templates: 'open' },
      rateCard: rateCardOf(environment),
      voice: { deliveryReport: 'none', billing: environment.VOICE_PRICE.billing },
      dispatch: {
        ...(dispatch ?? { enabled: false }),
        lease: environment.LEASE,
        rateLimit: settings.rateLimit(
          environment.RATE_LIMIT,
          environment.WHATSAPP_CARRIER && { whatsapp: META_RATE },
        ),
      },
      erasure: { keys: [await digestKeyOf(dataSource, secrets, environment)] },
      store: {
        migrate: false,
        // For the portal's search by number.
        recipientIndex: true,
        preparedStatements: environment.PREPARED_STATEMENTS,
        retention: {
          content: environment.RETENTION_CONTENT ?? false,
          messages: environment.RETENTION_MESSAGES ?? false,
        },
      },
      // Polls of the simulated carrier are free; early polls report messages that a killed
      // simulator lost.
      ...(isSimulated(environment) && { reports: { pollAfter: '5s' } }),
      sms: {
        deliveryReport: 'none',
        maxRecipients: environment.MAX_RECIPIENTS,
        maxParts: environment.MAX_PARTS,
      },
      email: { maxRecipients: environment.MAX_RECIPIENTS },
      verification: { countries: environment.VERIFY_COUNTRIES },
      inbound: {
        ...settings.inbound,
        tenant: ({ to }) =>
          to.includes('@')
            ? domains.ownerOf(to.slice(to.lastIndexOf('@') + 1))
            : numbers.ownerOf(to),
      },
      policy: {
        quietHours: environment.QUIET_HOURS,
        frequencyCap: environment.FREQUENCY_CAP,
      },
      callbacks,
    }),
  });
  return [
    EnvironmentModule.for(environment),
    SecretsModule,
    databaseModule(dataSource),
    messaging,
    AccountsModule,
  ];
}
