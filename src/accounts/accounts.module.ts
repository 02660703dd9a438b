import { Module } from '@nestjs/common';
import { AccountReads } from './account-reads.js';
import { AccountSettings } from './account-settings.js';
import { AccountsService } from './accounts.service.js';
import { AuthGuard } from './auth.guard.js';
import { CredentialUse, CredentialVerifier } from './credentials.js';
import { PendingSends, RequestLimits } from './limits.js';
import { RequestLog, RequestLogReader } from './request-log.js';
import { TemplateRegistry } from './templates.js';

const PROVIDERS = [
  AccountReads,
  AccountSettings,
  AccountsService,
  AuthGuard,
  CredentialUse,
  CredentialVerifier,
  PendingSends,
  RequestLimits,
  RequestLog,
  RequestLogReader,
  TemplateRegistry,
];

@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class AccountsModule {}
