import { Module } from '@nestjs/common';
import { AccountSettings } from './account-settings.js';
import { AccountsService } from './accounts.service.js';
import { AuthGuard } from './auth.guard.js';
import { CredentialUse, CredentialVerifier } from './credentials.js';
import { PendingSends, RequestLimits } from './limits.js';
import { SenderRegistry, WhatsAppNumbers } from './senders.js';
import { TemplateRegistry } from './templates.js';

const PROVIDERS = [
  AccountSettings,
  AccountsService,
  AuthGuard,
  CredentialUse,
  CredentialVerifier,
  PendingSends,
  RequestLimits,
  SenderRegistry,
  TemplateRegistry,
  WhatsAppNumbers,
];

@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class AccountsModule {}
