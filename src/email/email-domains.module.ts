import { Module } from '@nestjs/common';
import { DomainKeys } from './domain-keys.js';
import { DomainLookup } from './domain-lookup.js';
import { DomainsService } from './domains.service.js';
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
  SenderDomains,
  SigningKeys,
];

/** Domains and suppressions of accounts, without scheduled checks; also for the command line. */
@Module({ providers: SERVICES, exports: SERVICES })
export class EmailDomainsModule {}
