import { Global, Module } from '@nestjs/common';
import { AccountDomains } from '../accounts/senders.js';
import { DomainKeys } from './domain-keys.js';
import { DomainLookup } from './domain-lookup.js';
import { DomainsService } from './domains.service.js';
import { MailRelay } from './mail-relay.js';
import { SenderDomains } from './sender-domains.js';
import { SigningKeys } from './signing-keys.js';
import { SuppressionsService } from './suppressions.service.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';

const SERVICES = [
  SuppressionsService,
  UnsubscribeLinks,
  DomainKeys,
  DomainLookup,
  DomainsService,
  MailRelay,
  SenderDomains,
  SigningKeys,
];

const DOMAINS = { provide: AccountDomains, useExisting: SenderDomains };

/** Domains and suppressions of accounts, without scheduled checks; also for the command line. */
@Global()
@Module({ providers: [...SERVICES, DOMAINS], exports: [...SERVICES, AccountDomains] })
export class EmailDomainsModule {}
