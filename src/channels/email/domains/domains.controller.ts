import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth } from '../../../accounts/auth.guard.js';
import { Operation } from '../../../http/operation.decorator.js';
import { pageOf } from '../../../http/page.dto.js';
import { JsonBody, ValidQuery } from '../../../http/request.decorators.js';
import { CreateDomain, Domain, domainOf, DomainPage, DomainsQuery } from './domains.dto.js';
import { DomainsService } from './domains.service.js';

/** `{domainId}` of the path, in lower case for the comparison. */
function DomainId(): ParameterDecorator {
  return Param('domainId', { transform: (value: string): string => value.toLowerCase() });
}

@Controller('email/ng/v1/domains')
@ApiTags('Email')
export class DomainsController {
  constructor(private readonly domains: DomainsService) {}

  @Get()
  @Auth('api_key', 'email:read')
  @Operation('List domains', {
    description: 'The domains that the account sends from, each with its state and DNS records.',
    answer: DomainPage,
    success: 'A page of domains, oldest first.',
  })
  async listDomains(
    @AccountId() account: string,
    @ValidQuery(DomainsQuery) query: DomainsQuery,
  ): Promise<DomainPage> {
    return pageOf(await this.domains.list(account, query), domainOf);
  }

  @Post()
  @Auth('api_key', 'domains:write')
  @Operation('Add a domain', {
    description:
      'Publish its records in DNS, at least the required ones. The gateway looks for them during 72 hours, and at each request to verify the domain.',
    status: 201,
    answer: Domain,
    success: 'The domain with its records.',
  })
  async addDomain(
    @AccountId() account: string,
    @JsonBody(CreateDomain) { name }: CreateDomain,
  ): Promise<Domain> {
    return domainOf(await this.domains.add(account, name));
  }

  @Get(':domainId')
  @Auth('api_key', 'email:read')
  @Operation('Read a domain', {
    description: 'Each DNS record with its value, and whether the last check found it.',
    answer: Domain,
    success: 'The domain with its records.',
  })
  async readDomain(@AccountId() account: string, @DomainId() id: string): Promise<Domain> {
    return domainOf(await this.domains.get(account, id));
  }

  @Delete(':domainId')
  @Auth('api_key', 'domains:write')
  @Operation('Delete a domain', {
    description: 'Mail from it that is not sent yet is refused.',
    status: 204,
    success: 'The domain and its keys are deleted.',
  })
  async deleteDomain(@AccountId() account: string, @DomainId() id: string): Promise<void> {
    await this.domains.remove(account, id);
  }

  @Post(':domainId/verify')
  @Auth('api_key', 'domains:write')
  @Operation('Verify a domain', {
    description:
      'Asks DNS for all records. A domain that another account has verified becomes this account’s.',
    answer: Domain,
    success: 'The domain as it now is.',
  })
  async verifyDomain(@AccountId() account: string, @DomainId() id: string): Promise<Domain> {
    return domainOf(await this.domains.verify(account, id));
  }

  @Post(':domainId/rotate')
  @Auth('api_key', 'domains:write')
  @Operation('Make new DKIM keys', {
    description:
      'Publish the records of the new keys beside the old ones. Mail is signed with the old keys until the record of the new RSA key is found; leave the old records for seven days longer.',
    answer: Domain,
    success: 'The domain with the records of old and new keys.',
  })
  async rotateDomain(@AccountId() account: string, @DomainId() id: string): Promise<Domain> {
    return domainOf(await this.domains.rotate(account, id));
  }
}
