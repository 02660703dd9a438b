import { type Receipt, type SendOptions, type SmsMessage, SmsService } from '@dundun/messaging';
import { Injectable, Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { PendingSends } from '../accounts/limits.js';
import { Metrics } from '../metrics/metrics.js';
import { AccountSenders } from './account-senders.js';

/** An SMS as an account gives it. */
export interface AccountSms extends SmsMessage {
  readonly from: string;
  readonly to: readonly string[];
}

/** The one way in for SMS of accounts, over HTTP and SMPP. */
@Injectable()
export class SmsIntake {
  constructor(
    private readonly sms: SmsService,
    private readonly senders: AccountSenders,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
  ) {}

  /** Resolves once the batch is durable. @throws ApiError, or an error of `SmsService.send()` */
  async accept(
    message: AccountSms,
    options: SendOptions & { readonly tenant: string },
  ): Promise<Receipt> {
    await this.checkSender(options.tenant, message.from);
    const receipt = await this.pending.during(message.to.length, () =>
      this.sms.send(message, options),
    );
    if (!receipt.replayed) this.metrics.accepted('sms', receipt.recipients);
    return receipt;
  }

  /** @throws ApiError where the account may not send from it */
  async checkSender(tenant: string, from: string): Promise<void> {
    const refusal = await this.senders.refusalOf(tenant, 'sms', from);
    if (refusal) throw refusal;
  }
}

@Module({ imports: [AccountsModule], providers: [SmsIntake], exports: [SmsIntake] })
export class SmsIntakeModule {}
