import {
  MESSAGING_ERASURE_LISTENER,
  MESSAGING_INBOUND_LISTENER,
  MESSAGING_STATUS_LISTENER,
} from '@dundun/messaging';
import { Global, Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { SmsIntakeModule } from '../senders/sms-intake.js';
import { Metrics } from '../metrics/metrics.js';
import { SmppBinds } from './smpp-binds.js';
import { SmppCredentials } from './smpp-credentials.service.js';
import { SmppDeliveryStore } from './smpp-delivery.store.js';
import { SmppListener } from './smpp-listener.js';
import { SmppMessages } from './smpp-messages.js';
import { SmppOutbox } from './smpp-outbox.js';
import { SmppParts } from './smpp-parts.js';
import { SmppSender } from './smpp-sender.js';
import { SmppSubmits } from './smpp-submits.js';

/** The pairs that accounts bind with, and their stored deliveries; also for the command line. */
@Global()
@Module({
  imports: [AccountsModule],
  providers: [
    SmppCredentials,
    SmppOutbox,
    { provide: MESSAGING_STATUS_LISTENER, useExisting: SmppOutbox },
    { provide: MESSAGING_INBOUND_LISTENER, useExisting: SmppOutbox },
    { provide: MESSAGING_ERASURE_LISTENER, useExisting: SmppOutbox },
  ],
  exports: [SmppCredentials, SmppOutbox],
})
export class SmppStoreModule {}

/** The SMPP server for accounts, at `SMPP_LISTEN`. */
@Module({
  imports: [AccountsModule, SmsIntakeModule, SmppStoreModule],
  providers: [
    SmppBinds,
    SmppDeliveryStore,
    SmppListener,
    SmppMessages,
    SmppParts,
    SmppSender,
    SmppSubmits,
  ],
})
export class SmppModule {
  constructor(metrics: Metrics, binds: SmppBinds, deliveries: SmppDeliveryStore) {
    metrics.gauge('dundun_smpp_binds', 'SMPP binds of accounts to this process.', ['mode'], () =>
      Promise.resolve(binds.all.map(({ session: { mode } }) => [{ mode }, 1])),
    );
    metrics.gauge(
      'dundun_smpp_lag_seconds',
      'How long ago the oldest receipt or inbound SMS that waits for an SMPP bind was written.',
      [],
      async () => [[{}, (await deliveries.oldestAge()) / 1_000]],
    );
  }
}
