import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DeliveryReportsController } from './delivery-reports.controller.js';
import { EstimateController } from './estimate.controller.js';
import { SmsController } from './sms.controller.js';

/** The SMS surface. */
@Module({
  imports: [AccountsModule],
  controllers: [EstimateController, SmsController, DeliveryReportsController],
})
export class SmsModule {}
