import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ContactsController } from './contacts.controller.js';
import { WhatsAppController } from './whatsapp.controller.js';

/** The HTTP API for WhatsApp: messages, templates, contacts. */
@Module({
  imports: [AccountsModule],
  controllers: [WhatsAppController, ContactsController],
})
export class WhatsAppModule {}
