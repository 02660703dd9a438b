import { type DynamicModule, Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { BillingModule } from '../billing/billing.module.js';
import type { GatewayChannel } from '../channel.js';
import { NotificationIntake } from './notification-intake.js';
import { notificationsController } from './notifications.controller.js';

@Module({})
export class NotificationsModule {
  /** Notifications over those of the channels that carry any. */
  static for(channels: readonly GatewayChannel[]): DynamicModule {
    return {
      module: NotificationsModule,
      imports: [AccountsModule, BillingModule],
      controllers: [notificationsController(channels)],
      providers: [NotificationIntake],
    };
  }
}
