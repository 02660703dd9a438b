import { Global, Module } from '@nestjs/common';
import { DomainKeys, SigningKeys } from './domains/domain-keys.js';
import { DomainLookup } from './domains/domain-check.js';
import { DomainsService } from './domains/domains.service.js';
import { MailRelay } from './messages/mail-relay.js';
import { SenderDomains } from './domains/sender-domains.js';
import { UnsubscribeLinks } from './unsubscribe/unsubscribe-links.js';

const SERVICES = [
  UnsubscribeLinks,
  DomainKeys,
  DomainLookup,
  DomainsService,
  MailRelay,
  SenderDomains,
  SigningKeys,
];

/** Domains of accounts, without scheduled checks; also for the command line. */
@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class EmailDomainsModule {}
