import { type EngineFactory, MessagingModule, type MessagingOptions } from '@dundun/messaging';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { AccountSettings } from './accounts/account-settings.js';
import { AccountsModule } from './accounts/accounts.module.js';
import { WhatsAppNumbers } from './accounts/senders.js';
import { CARRIER_CALLBACK_PATH, CARRIERS, EMAIL_CARRIERS } from './carriers.js';
import { databaseModule } from './config/database.js';
import { type Environment, EnvironmentModule } from './config/environment.js';
import { DomainChecks } from './email/domain-checks.js';
import { DomainsController } from './email/domains.controller.js';
import { EmailDomainsModule } from './email/email-domains.module.js';
import { SigningKeys } from './email/signing-keys.js';
import { SuppressionsController } from './email/suppressions.controller.js';
import { UnsubscribeLinks } from './email/unsubscribe-links.js';
import { UnsubscribeController } from './email/unsubscribe.controller.js';
import { EmailModule } from './email/email.module.js';
import { GroupsController } from './groups/groups.controller.js';
import { HealthModule } from './health/health.controller.js';
import { ApiExceptionFilter } from './http/error-mapping.js';
import { MetricsModule } from './metrics/metrics.js';
import { digestKeyOf } from './secrets/digest-key.js';
import { Secrets, SecretsModule } from './secrets/secrets.js';
import { SmsController } from './sms/sms.controller.js';
import { WebhookEndpointsModule, WebhooksModule } from './webhooks/webhooks.module.js';
import { ContactsController } from './whatsapp/contacts.controller.js';
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
        EmailModule,
        WebhooksModule,
        EmailDomainsModule,
        HealthModule,
      ],
      controllers: [
        SmsController,
        GroupsController,
        WhatsAppController,
        ContactsController,
        DomainsController,
        SuppressionsController,
        UnsubscribeController,
      ],
      providers: [{ provide: APP_FILTER, useClass: ApiExceptionFilter }, DomainChecks],
    };
  }
}

/** The modules of the command line: the same database and accounts, without dispatch. */
@Module({})
export class OperatorModule {
  static for(environment: Environment, dataSource: DataSource): DynamicModule {
    return {
      module: OperatorModule,
      imports: [...foundation(environment, dataSource), WebhookEndpointsModule, EmailDomainsModule],
    };
  }
}

/** Without `dispatch` nothing is sent, and the carrier's callbacks are not served. */
function foundation(
  environment: Environment,
  dataSource: DataSource,
  dispatch?: MessagingOptions['dispatch'],
): DynamicModule['imports'] & object {
  const { CARRIER, EMAIL_CARRIER } = environment;
  const { transport, callbacks } = CARRIERS[CARRIER](environment);
  const hasOwnEmail = EMAIL_CARRIER !== undefined && EMAIL_CARRIER !== CARRIER;
  const messaging = MessagingModule.forRootAsync({
    isGlobal: true,
    callbackPath: dispatch && callbacks ? CARRIER_CALLBACK_PATH : false,
    imports: [AccountsModule, EmailDomainsModule],
    inject: [AccountSettings, WhatsAppNumbers, Secrets, SigningKeys, UnsubscribeLinks],
    useFactory: async (
      settings: AccountSettings,
      numbers: WhatsAppNumbers,
      secrets: Secrets,
      signingKeys: SigningKeys,
      links: UnsubscribeLinks,
    ): Promise<MessagingOptions> => ({
      providers: {
        [CARRIER]: { transport, rateLimit: environment.CARRIER_RATE_LIMIT },
        ...(hasOwnEmail && {
          [EMAIL_CARRIER]: await EMAIL_CARRIERS[EMAIL_CARRIER](environment, {
            dkim: (domain) => signingKeys.identityOf(domain),
            unsubscribeUrl: (message) => links.urlOf(message),
          }),
        }),
      },
      ...(hasOwnEmail && {
        routes: [{ channel: 'email', use: EMAIL_CARRIER }, { use: CARRIER }],
      }),
      dispatch: {
        ...(dispatch ?? { enabled: false }),
        lease: environment.LEASE,
        rateLimit: settings.rateLimit(environment.RATE_LIMIT),
      },
      erasure: { keys: [await digestKeyOf(dataSource, secrets, environment)] },
      store: {
        migrate: false,
        preparedStatements: environment.PREPARED_STATEMENTS,
        retention: {
          content: environment.RETENTION_CONTENT,
          messages: environment.RETENTION_MESSAGES,
        },
      },
      // Polls of the simulated carrier are free; early polls report messages that a killed
      // simulator lost.
      ...(environment.CARRIER === 'simulator' && { reports: { pollAfter: '5s' } }),
      sms: {
        deliveryReport: 'none',
        maxRecipients: environment.MAX_RECIPIENTS,
        maxParts: environment.MAX_PARTS,
      },
      email: { maxRecipients: environment.MAX_RECIPIENTS },
      inbound: {
        ...settings.inbound,
        tenant: ({ channel, to }) => (channel === 'whatsapp' ? numbers.ownerOf(to) : undefined),
      },
      policy: {
        quietHours: environment.QUIET_HOURS,
        frequencyCap: environment.FREQUENCY_CAP,
      },
      callbacks: callbacks && { ...callbacks, provider: CARRIER },
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
