import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { EmailContactsController } from './contacts.controller.js';
import { EmailController } from './email.controller.js';
import { EmailDomainsModule } from './email-domains.module.js';

@Module({
  imports: [AccountsModule, EmailDomainsModule],
  controllers: [EmailController, EmailContactsController],
})
export class EmailModule {}
