import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts.service.js';
import { GatewayChannels } from '../../channel.js';
import { invalidFields } from '../../http/api-error.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import { type DomainView, DomainsService } from '../../channels/email/domains/domains.service.js';
import { Audit } from '../audit.js';
import { ApiKeyBody, DomainBody, listedOf, PortalQuery } from '../portal.dto.js';
import type { ApiKeys, CreatedApiKey, Domain, Listed } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { Caller, type InAccount } from '../portal-request.js';

@PortalController('keys')
@PortalAccess('admin')
export class KeysController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly channels: GatewayChannels,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(@Caller() { accountId: id }: InAccount): Promise<ApiKeys> {
    const keys = await this.accounts.keys(id);
    return {
      data: keys.map(({ keyId, createdAt, expiresAt, lastUsedAt, ...key }) => ({
        id: keyId,
        ...key,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
      })),
      scopes: this.channels.scopes,
    };
  }

  @Post()
  async create(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(ApiKeyBody) { scopes: asked, expiresAt }: ApiKeyBody,
  ): Promise<CreatedApiKey> {
    const { scopes: known } = this.channels;
    const errors = asked.flatMap((scope, index) =>
      known.some((one) => one === scope)
        ? []
        : { path: `scopes[${index}]`, message: `must be one of ${known.join(', ')}` },
    );
    if (errors.length > 0) throw invalidFields(errors);
    const scopes = known.filter((scope) => asked.includes(scope));
    const expires = parseTimestamp(expiresAt) ?? null;
    const also = this.audit.also(actor, 'key.created');
    const { keyId, apiKey } = await this.accounts.createKey(id, scopes, expires, also);
    return { id: keyId, key: apiKey, scopes, expiresAt: expires?.toISOString() ?? null };
  }

  @Delete(':id')
  @HttpCode(204)
  async revoke(@Caller() { accountId, actor }: InAccount, @Param('id') id: string): Promise<void> {
    await this.accounts.revokeKey(accountId, id, this.audit.also(actor, 'key.revoked', id));
  }
}

/** `{id}` of the path, in lower case for the comparison. */
function DomainId(): ParameterDecorator {
  return Param('id', { transform: (value: string): string => value.toLowerCase() });
}

@PortalController('domains')
export class PortalDomainsController {
  constructor(
    private readonly domains: DomainsService,
    private readonly audit: Audit,
  ) {}

  @Get()
  @PortalAccess('viewer')
  async list(
    @Caller() { accountId: id }: InAccount,
    @ValidQuery(PortalQuery) query: PortalQuery,
  ): Promise<Listed<Domain>> {
    return listedOf(await this.domains.list(id, query), domainOf);
  }

  @Post()
  @PortalAccess('admin')
  async add(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(DomainBody) { name }: DomainBody,
  ): Promise<Domain> {
    return domainOf(await this.domains.add(id, name, this.audit.also(actor, 'domain.added')));
  }

  @Get(':id')
  @PortalAccess('viewer')
  async read(@Caller() { accountId }: InAccount, @DomainId() id: string): Promise<Domain> {
    return domainOf(await this.domains.get(accountId, id));
  }

  @Delete(':id')
  @HttpCode(204)
  @PortalAccess('admin')
  async remove(@Caller() { accountId, actor }: InAccount, @DomainId() id: string): Promise<void> {
    await this.domains.remove(accountId, id, this.audit.also(actor, 'domain.deleted', id));
  }

  @Post(':id/verify')
  @HttpCode(200)
  @PortalAccess('admin')
  async verify(@Caller() { accountId, actor }: InAccount, @DomainId() id: string): Promise<Domain> {
    const also = this.audit.also(actor, 'domain.verified', id);
    return domainOf(await this.domains.verify(accountId, id, also));
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @PortalAccess('admin')
  async rotate(@Caller() { accountId, actor }: InAccount, @DomainId() id: string): Promise<Domain> {
    const also = this.audit.also(actor, 'domain.rotated', id);
    return domainOf(await this.domains.rotate(accountId, id, also));
  }
}

function domainOf({ id, name, status, records, verifiedAt }: DomainView): Domain {
  return {
    id,
    name,
    status,
    verifiedAt: verifiedAt?.toISOString() ?? null,
    records: records.map(({ check, ...record }) => ({
      ...record,
      status: check?.status ?? 'missing',
      found: check?.found ?? null,
      checkedAt: check?.checkedAt ?? null,
    })),
  };
}
