import {
  type AuditEntry,
  type DashboardAccess,
  type DashboardRequest,
  MessagingDashboardModule,
} from '@dundun/dashboard';
import {
  type ListedMessage,
  MESSAGING_ERASURE_LISTENER,
  MessagingService,
} from '@dundun/messaging';
import { type DynamicModule, Module } from '@nestjs/common';
import { join } from 'node:path';
import type { EntityManager } from 'typeorm';
import { AccountsModule } from '../accounts/accounts.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { MessageCosts } from '../billing/charging/message-costs.js';
import { amountText } from '../billing/money.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { EmailDomainsModule } from '../channels/email/email-domains.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { DoctorModule } from '../doctor/doctor.service.js';
import {
  AlertChannelsController,
  AlertRulesController,
  PortalAlertsController,
} from './alerts.controllers.js';
import {
  AccountSettingsController,
  OperatedSettingsController,
  PortalSmppController,
} from './settings/account-settings.controllers.js';
import { SmppStoreModule } from '../smpp/smpp.module.js';
import { Audit } from './audit.js';
import { PortalBillingController } from './billing/billing.controller.js';
import {
  DoNotCallController,
  PortalSuppressionsController,
} from './sending/blocked.controllers.js';
import { KeysController, PortalDomainsController } from './sending/email.controllers.js';
import { PortalGroupsController } from './sending/groups.controller.js';
import { PortalHealthController } from './health.controller.js';
import { BalanceController, GatewayController, OnboardingController } from './home.controllers.js';
import { InsightsController } from './insights.controller.js';
import { LiveController, LiveStreams } from './live-streams.js';
import {
  AccountsController,
  CarriersController,
  SenderRequestsController,
} from './operators.controllers.js';
import { OpenOrdersController, OrdersController } from './sending/orders.controllers.js';
import { hasRole, PortalGuard } from './portal.guard.js';
import { PORTAL_PATH, type PortalRequest } from './portal-request.js';
import { PortalMarginsController } from './billing/margins.controller.js';
import { PortalRatesController } from './billing/rates.controller.js';
import { PortalRequestsController } from './requests.controller.js';
import { SavedViews } from './saved-views.service.js';
import { SavedViewsController } from './saved-views.controller.js';
import { SendersController, TemplatesController } from './sending/senders.controllers.js';
import { SendRules } from './sending/send-rules.js';
import { SessionController } from './sign-in/session.controller.js';
import { SessionsService } from './sign-in/sessions.service.js';
import {
  AuditController,
  MembersController,
  SecurityController,
} from './settings/settings.controllers.js';
import { SetUpLinks } from './sign-in/set-up-links.js';
import { KnownPlaces } from './sign-in/known-places.js';
import {
  SecondFactorController,
  UserSecondFactorController,
} from './sign-in/second-factor.controller.js';
import { SecondFactors } from './sign-in/second-factors.service.js';
import { SignInLimits } from './sign-in/sign-in-limits.js';
import { TokensController } from './settings/tokens.controller.js';
import { UsersService } from './sign-in/users.service.js';
import { CallbacksController, PortalWebhooksController } from './settings/webhooks.controller.js';

const USERS = [
  Audit,
  KnownPlaces,
  SavedViews,
  SecondFactors,
  SetUpLinks,
  SignInLimits,
  UsersService,
];

/** Users, their set-up links and saved views, without pages; also used by workers and the command line. */
@Module({
  imports: [AccountsModule],
  providers: [...USERS, { provide: MESSAGING_ERASURE_LISTENER, useExisting: SavedViews }],
  exports: USERS,
})
export class PortalUsersModule {}

/** The portal's own API. */
@Module({
  imports: [
    AccountsModule,
    BillingModule,
    DoctorModule,
    EmailDomainsModule,
    PortalUsersModule,
    SmppStoreModule,
    WebhooksModule,
  ],
  controllers: [
    SessionController,
    SecondFactorController,
    UserSecondFactorController,
    SecurityController,
    PortalWebhooksController,
    CallbacksController,
    MembersController,
    AuditController,
    SendersController,
    DoNotCallController,
    TemplatesController,
    PortalGroupsController,
    KeysController,
    TokensController,
    PortalRequestsController,
    PortalDomainsController,
    PortalSuppressionsController,
    AccountsController,
    AccountSettingsController,
    OperatedSettingsController,
    PortalSmppController,
    SenderRequestsController,
    CarriersController,
    PortalHealthController,
    PortalBillingController,
    PortalRatesController,
    PortalMarginsController,
    OrdersController,
    OpenOrdersController,
    InsightsController,
    PortalAlertsController,
    AlertRulesController,
    AlertChannelsController,
    OnboardingController,
    BalanceController,
    GatewayController,
    SavedViewsController,
    LiveController,
  ],
  providers: [SessionsService, PortalGuard, LiveStreams, SendRules],
  exports: [PortalUsersModule, SessionsService, PortalGuard, SendRules],
})
class PortalApiModule {}

/** The web portal: its own API, and the dashboard's for the account of the request. */
@Module({})
export class PortalModule {
  static for(): DynamicModule {
    return {
      module: PortalModule,
      imports: [
        PortalApiModule,
        MessagingDashboardModule.forRootAsync({
          path: PORTAL_PATH,
          imports: [PortalApiModule, BillingModule],
          guard: PortalGuard,
          // People need them to sign in.
          publicPages: true,
          files: BUILT_PAGES,
          inject: [ENVIRONMENT, Audit, MessagingService, SendRules, MessageCosts],
          useFactory: (
            { NODE_ENV }: Environment,
            audit: Audit,
            messaging: MessagingService,
            rules: SendRules,
            costs: MessageCosts,
          ) => ({
            title: 'Dundun',
            environment: NODE_ENV,
            live: true,
            access: accessOf,
            audit: (entry: AuditEntry, request: DashboardRequest, given?: EntityManager) => {
              const recorded = auditOf(entry, request as unknown as PortalRequest);
              const record = (manager: EntityManager) => audit.record(manager, ...recorded);
              return given ? record(given) : messaging.transaction(record);
            },
            checkSend: (message) => rules.check(message),
            prices: (messages) => pricesOf(costs, messages),
          }),
        }),
      ],
    };
  }
}

const BUILT_PAGES = join(import.meta.dirname, '../../dist/portal');

/** Data of the account of the request; of all accounts for an operator without one. */
function accessOf(request: DashboardRequest): DashboardAccess {
  const { portal } = request as unknown as PortalRequest;
  const { account = null, user } = portal ?? {};
  const operate = user?.isOperator ?? false;
  const by = user?.email ?? 'portal';
  if (!account)
    return { tenants: operate ? 'all' : [], act: operate, reveal: operate, operate, by };
  const { id, role } = account;
  const act = hasRole(role, 'sender');
  return { tenants: [id], act, reveal: hasRole(role, 'admin'), operate, by };
}

/** Of the messages whose accounts pay. */
async function pricesOf(costs: MessageCosts, messages: readonly ListedMessage[]) {
  const priceOf = await costs.pricesOf(messages);
  return new Map(
    messages.flatMap((message) => {
      const price = priceOf(message);
      return price
        ? [[message.id, { amount: amountText(price.amount), currency: price.currency }] as const]
        : [];
    }),
  );
}

function auditOf({ action, tenant, subject }: AuditEntry, { ip, portal }: PortalRequest) {
  const actor = { userId: portal?.user.id ?? null, ip, accountId: tenant };
  return [actor, action, subject] as const;
}
