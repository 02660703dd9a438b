import { type EngineFactory, MessagingModule, type MessagingOptions } from '@dundun/messaging';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { AccountSettings } from './accounts/account-settings.js';
import { AccountsModule } from './accounts/accounts.module.js';
import { WhatsAppNumbers } from './accounts/senders.js';
import { CARRIER_CALLBACK_PATH, CARRIERS } from './carriers.js';
import { databaseModule } from './config/database.js';
import { type Environment, EnvironmentModule } from './config/environment.js';
import { GroupsController } from './groups/groups.controller.js';
import { HealthModule } from './health/health.module.js';
import { ApiExceptionFilter } from './http/error-mapping.js';
import { MetricsModule } from './metrics/metrics.module.js';
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
        ...foundation(environment, dataSource, {
          dispatch: environment.ROLE !== 'api',
          callbacks: true,
          engine,
        }),
        MetricsModule,
        WebhooksModule,
        HealthModule,
      ],
      controllers: [SmsController, GroupsController, WhatsAppController, ContactsController],
      providers: [{ provide: APP_FILTER, useClass: ApiExceptionFilter }],
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
        ...foundation(environment, dataSource, { dispatch: false, callbacks: false }),
        WebhookEndpointsModule,
      ],
    };
  }
}

interface MessagingRole {
  readonly dispatch: boolean;
  /** Whether to serve the carrier's callbacks, where the carrier has them. */
  readonly callbacks: boolean;
  readonly engine?: EngineFactory | undefined;
}

function foundation(
  environment: Environment,
  dataSource: DataSource,
  role: MessagingRole,
): DynamicModule['imports'] & object {
  const { transport, callbacks } = CARRIERS[environment.CARRIER](environment);
  const { RATE_LIMIT, RETENTION_CONTENT, RETENTION_MESSAGES } = environment;
  const messaging = MessagingModule.forRootAsync({
    isGlobal: true,
    callbackPath: role.callbacks && callbacks ? CARRIER_CALLBACK_PATH : false,
    imports: [AccountsModule],
    inject: [AccountSettings, WhatsAppNumbers],
    useFactory: (settings: AccountSettings, numbers: WhatsAppNumbers): MessagingOptions => ({
      providers: {
        [environment.CARRIER]: { transport, rateLimit: environment.CARRIER_RATE_LIMIT },
      },
      dispatch: {
        enabled: role.dispatch,
        ...(role.engine && { engine: role.engine }),
        lease: environment.LEASE,
        rateLimit: settings.rateLimit(RATE_LIMIT),
      },
      store: {
        migrate: false,
        preparedStatements: environment.PREPARED_STATEMENTS,
        retention: {
          ...(RETENTION_CONTENT !== undefined && { content: RETENTION_CONTENT }),
          ...(RETENTION_MESSAGES !== undefined && { messages: RETENTION_MESSAGES }),
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
      inbound: {
        ...settings.inbound,
        tenant: ({ channel, to }) => (channel === 'whatsapp' ? numbers.ownerOf(to) : undefined),
      },
      policy: {
        ...(environment.QUIET_HOURS && { quietHours: environment.QUIET_HOURS }),
        ...(environment.FREQUENCY_CAP && { frequencyCap: environment.FREQUENCY_CAP }),
      },
      ...(callbacks && { callbacks }),
    }),
  });
  return [
    EnvironmentModule.for(environment),
    databaseModule(dataSource),
    messaging,
    AccountsModule,
  ];
}
