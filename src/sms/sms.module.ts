import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { SmsController } from './sms.controller.js';

/** The SMS surface. */
@Module({ imports: [AccountsModule], controllers: [SmsController] })
export class SmsModule {}
