import { VasService } from '@dundun/messaging';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { BillingModule } from '../../billing/billing.module.js';
import { Metrics } from '../../metrics/metrics.js';
import { VasOrdersController } from './orders.controller.js';
import { VerificationSenders } from './verification-senders.js';
import { VerificationsController } from './verifications.controller.js';

@Module({
  imports: [AccountsModule, BillingModule],
  controllers: [VasOrdersController, VerificationsController],
  providers: [VerificationSenders],
})
export class VasModule implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    @Inject(VasService) private readonly vas: Pick<VasService, 'countOpen'>,
  ) {}

  onModuleInit(): void {
    this.metrics.gauge(
      'dundun_open_orders',
      'Orders of airtime and data without an outcome for a day; a person settles them.',
      [],
      async () => [[{}, await this.vas.countOpen()]],
    );
  }
}
