import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { SmsController } from './sms.controller.js';

/** The HTTP API for SMS. */
@Module({ imports: [AccountsModule], controllers: [SmsController] })
export class SmsModule {}
