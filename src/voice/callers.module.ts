import { Global, Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { AccountCallers } from '../accounts/senders.js';
import { CallersService } from './callers.service.js';
import { DoNotCallService } from './do-not-call.service.js';

/** Caller ids and do-not-call lists of accounts, also for the command line. */
@Global()
@Module({
  imports: [AccountsModule],
  providers: [
    CallersService,
    DoNotCallService,
    { provide: AccountCallers, useExisting: CallersService },
  ],
  exports: [CallersService, DoNotCallService, AccountCallers],
})
export class CallersModule {}
