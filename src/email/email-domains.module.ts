import { Module } from '@nestjs/common';
import { DomainKeys } from './domain-keys.js';
import { DomainLookup } from './domain-lookup.js';
import { DomainsService } from './domains.service.js';
import { SenderDomains } from './sender-domains.js';

const SERVICES = [DomainKeys, DomainLookup, DomainsService, SenderDomains];

/** Domains of accounts without their scheduled checks; also used by the command line. */
@Module({ providers: SERVICES, exports: SERVICES })
export class EmailDomainsModule {}
