import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service.js';
import { AuthGuard } from './auth.guard.js';
import { CredentialUse, CredentialVerifier } from './credentials.js';
import { FailedAttempts, PendingSends, RequestLimit } from './limits.js';
import { SenderRegistry } from './senders.js';
import { TemplateRegistry } from './templates.js';
import { WhatsAppNumbers } from './whatsapp-numbers.js';

/** Accounts, their credentials, senders, numbers and templates, and the limits on requests. */
@Module({
  providers: [
    AccountsService,
    AuthGuard,
    CredentialUse,
    CredentialVerifier,
    FailedAttempts,
    PendingSends,
    RequestLimit,
    SenderRegistry,
    TemplateRegistry,
    WhatsAppNumbers,
  ],
  exports: [
    AccountsService,
    AuthGuard,
    CredentialUse,
    CredentialVerifier,
    FailedAttempts,
    PendingSends,
    RequestLimit,
    SenderRegistry,
    TemplateRegistry,
    WhatsAppNumbers,
  ],
})
export class AccountsModule {}
