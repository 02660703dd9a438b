import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service.js';
import { AuthGuard } from './auth.guard.js';
import { CredentialUse } from './credential-use.js';
import { CredentialVerifier } from './credential.verifier.js';
import { FailedAttempts } from './failed-attempts.js';
import { PendingSends } from './pending-sends.js';
import { RequestLimit } from './request-limit.js';
import { SenderRegistry } from './sender.registry.js';
import { TemplateRegistry } from './template.registry.js';
import { WhatsAppNumbers } from './whatsapp-numbers.js';

/** Who may do what: accounts, credentials, senders. */
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
