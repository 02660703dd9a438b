import { MessagingModule, type MessagingOptions } from '@dundun/messaging';
import type { EngineFactory } from '@dundun/messaging/ports';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { APP_FILTER, ModuleRef } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import type { DataSource } from 'typeorm';
import { AccountSettings } from './accounts/account-settings.js';
import { AccountsModule } from './accounts/accounts.module.js';
import { AbuseAlerts } from './alerts/abuse-alerts.js';
import { AlertsModule, AlertStoreModule } from './alerts/alerts.module.js';
import { AccountController } from './billing/account.controller.js';
import { BillingModule } from './billing/billing.module.js';
import { RateCards } from './billing/rate-cards/rate-cards.service.js';
import { BalanceMails } from './billing/thresholds/balance-mails.js';
import { BlockedModule } from './blocked/blocked.service.js';
import { SuppressionsController } from './blocked/suppressions.controller.js';
import { ChannelsModule, type GatewayChannel } from './channel.js';
import { databaseModule } from './config/database.js';
import { type Environment, EnvironmentModule, REPORTS_FOR } from './config/environment.js';
import { CallbackSightings } from './doctor/callback-sightings.js';
import { DoctorModule } from './doctor/doctor.service.js';
import { EmailDomainsModule } from './channels/email/email-domains.module.js';
import { MailRelay } from './channels/email/messages/mail-relay.js';
import { SenderDomains } from './channels/email/domains/sender-domains.js';
import { GroupsController } from './groups/groups.controller.js';
import { HealthModule } from './health/health.controller.js';
import { InboundController, WhatsAppInboundController } from './inbound/inbound.controller.js';
import { MemoryRelease } from './memory-release.js';
import { MetricsModule } from './metrics/metrics.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { PortalErrorFilter } from './portal/portal-controller.js';
import { ProbesModule, ProbeStoreModule } from './probes/probes.module.js';
import { probeRoutes, witnessOf } from './probes/probes.service.js';
import { PortalModule, PortalUsersModule } from './portal/portal.module.js';
import { digestKeyOf } from './secrets/digest-key.js';
import { Secrets, SecretsModule } from './secrets/secrets.js';
import { AccountSenders } from './senders/account-senders.js';
import { SendersModule } from './senders/senders.service.js';
import { SmppModule, SmppStoreModule } from './smpp/smpp.module.js';
import { WebhookEndpointsModule, WebhooksModule } from './webhooks/webhooks.module.js';

@Module({})
export class AppModule {
  /**
   * @param channels all that the gateway has
   * @param engine without one, each process finds its lanes by polling the database
   */
  static for(
    environment: Environment,
    dataSource: DataSource,
    channels: readonly GatewayChannel[],
    engine?: EngineFactory,
  ): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ...foundation(environment, dataSource, channels, {
          enabled: environment.ROLE !== 'api',
          engine,
        }),
        ScheduleModule.forRoot(),
        MetricsModule,
        ...channels.map(({ module }) => module),
        NotificationsModule.for(channels),
        WebhooksModule,
        AlertsModule,
        BlockedModule,
        EmailDomainsModule,
        HealthModule,
        ProbesModule,
        SmppModule,
        // A worker ends erasures, which reach saved views.
        environment.ROLE === 'worker' ? PortalUsersModule : PortalModule.for(),
      ],
      controllers: [
        AccountController,
        GroupsController,
        InboundController,
        SuppressionsController,
        WhatsAppInboundController,
      ],
      providers: [
        { provide: APP_FILTER, useClass: PortalErrorFilter },
        BalanceMails,
        CallbackSightings,
        MemoryRelease,
      ],
    };
  }
}

/** The modules of the command line: the same database and accounts, without dispatch. */
@Module({})
export class OperatorModule {
  static for(
    environment: Environment,
    dataSource: DataSource,
    channels: readonly GatewayChannel[],
  ): DynamicModule {
    return {
      module: OperatorModule,
      imports: [
        ...foundation(environment, dataSource, channels),
        BlockedModule,
        WebhookEndpointsModule,
        AlertStoreModule,
        EmailDomainsModule,
        SmppStoreModule,
        PortalUsersModule,
        DoctorModule,
        ProbeStoreModule,
      ],
    };
  }
}

/** Options of the library that channels bring. */
function optionsOf(
  environment: Environment,
  channels: readonly GatewayChannel[],
): Partial<MessagingOptions> {
  return channels.reduce((all, { options }) => ({ ...all, ...options(environment) }), {});
}

/** What the options of the library read. */
@Injectable()
class OptionSources {
  constructor(
    readonly settings: AccountSettings,
    readonly senders: AccountSenders,
    readonly domains: SenderDomains,
    readonly secrets: Secrets,
    readonly relay: MailRelay,
    readonly rateCard: RateCards,
    readonly modules: ModuleRef,
  ) {}
}

@Module({
  imports: [AccountsModule, BillingModule, EmailDomainsModule, SendersModule],
  providers: [OptionSources],
  exports: [OptionSources],
})
class OptionSourcesModule {}

/** Keys of messages with one-time codes: the present one first. */
function contentKeysOf({ SECRETS_KEY, SECRETS_KEY_PREVIOUS }: Environment): string[] {
  return [SECRETS_KEY, SECRETS_KEY_PREVIOUS].flatMap((key) => key?.toString('base64') ?? []);
}

/** Without `dispatch` nothing is sent, and the carrier's callbacks are not served. */
function foundation(
  environment: Environment,
  dataSource: DataSource,
  channels: readonly GatewayChannel[],
  dispatch?: MessagingOptions['dispatch'],
): DynamicModule['imports'] & object {
  const { carriers } = environment;
  // The carrier's callbacks are not served by workers either.
  const listens = dispatch !== undefined && environment.ROLE !== 'worker';
  const messaging = MessagingModule.forRootAsync({
    isGlobal: true,
    callbackPath: dispatch && carriers.haveCallbacks ? carriers.callbackPath : false,
    imports: [OptionSourcesModule],
    inject: [OptionSources],
    useFactory: async ({
      settings,
      senders,
      domains,
      secrets,
      relay,
      rateCard,
      modules,
    }: OptionSources): Promise<MessagingOptions> => ({
      ...(await carriers.options({
        phoneNumberIdOf: (number) => senders.phoneNumberIdOf(number),
        mail: () => relay.options(listens),
      })),
      routes: [...probeRoutes(environment), ...carriers.routes],
      ...optionsOf(environment, channels),
      channels: channels.flatMap(({ definition }) => definition ?? []),
      // Nest would call the hooks of the service a second time, as those of the port.
      rateCard: { price: (item) => rateCard.price(item) },
      dispatch: {
        ...(dispatch ?? { enabled: false }),
        lease: environment.LEASE,
        rateLimit: settings.rateLimit(environment.RATE_LIMIT, carriers.accountRates),
      },
      erasure: { keys: [await digestKeyOf(dataSource, secrets, environment)] },
      store: {
        migrate: false,
        // For the portal's search by number.
        recipientIndex: true,
        // For its Insights.
        outcomes: true,
        preparedStatements: environment.PREPARED_STATEMENTS,
        retention: {
          content: environment.RETENTION_CONTENT ?? false,
          messages: environment.RETENTION_MESSAGES ?? false,
          outcomes: environment.RETENTION_OUTCOMES ?? false,
        },
      },
      // Early polls report messages that a killed simulator lost; SMTP is not polled.
      reports: {
        giveUpAfter: REPORTS_FOR,
        ...(environment.PROBE_NUMBERS && { witness: witnessOf(dataSource, environment) }),
        ...([...carriers.of('sms'), ...carriers.of('email')].every(
          ({ traits: { isSimulated, takesMail } }) => isSimulated || takesMail,
        ) && { pollAfter: '5s' }),
      },
      verification: { countries: environment.VERIFY_COUNTRIES, keys: contentKeysOf(environment) },
      inbound: {
        ...settings.inbound,
        tenant: ({ to }) =>
          to.includes('@')
            ? domains.ownerOf(to.slice(to.lastIndexOf('@') + 1))
            : senders.ownerOf(to),
      },
      policy: {
        quietHours: environment.QUIET_HOURS,
        frequencyCap: environment.FREQUENCY_CAP,
        guard: settings.guardOf,
        // It needs the service that is made of these options.
        onFinding: (finding) => modules.get(AbuseAlerts, { strict: false }).add(finding),
      },
      ...(carriers.haveCallbacks && { callbacks: await carriers.callbacks() }),
    }),
  });
  return [
    EnvironmentModule.for(environment),
    ChannelsModule.for(channels),
    SecretsModule,
    databaseModule(dataSource),
    messaging,
    AccountsModule,
    BillingModule,
    SendersModule,
  ];
}
