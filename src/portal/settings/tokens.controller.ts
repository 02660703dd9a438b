import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts.service.js';
import { GatewayChannels, type Scope } from '../../channel.js';
import { Field, List, Text, WholeNumber } from '../../http/fields.js';
import { JsonBody } from '../../http/request.decorators.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../../http/rfc3339.js';
import { Rule } from '../../http/validation.js';
import { Audit } from '../audit.js';
import type { ApiTokens, CreatedApiToken, NewApiToken, RotateApiToken } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { Caller, type InAccount } from '../portal-request.js';

const HOUR = 3_600_000;

class NewTokenBody implements NewApiToken {
  @Text({ minLength: 1, maxLength: 100 }) readonly name!: string;

  @List({
    items: { type: 'string' },
    maxItems: 100,
    entry: (scope) => (typeof scope === 'string' ? undefined : 'must be a scope'),
    message: 'must be a list of at most 100 scopes',
  })
  readonly scopes!: readonly Scope[];

  /** `null`: never. */
  @Field(
    { type: 'string', optional: true },
    Rule((value) => (value === null || parseTimestamp(value) ? undefined : TIMESTAMP_RULE)),
  )
  readonly expiresAt?: string | null;
}

class RotateBody implements RotateApiToken {
  @WholeNumber({ minimum: 0, maximum: 720 }) readonly overlapHours!: number;
}

/** The API tokens of the account, by name. */
@PortalController('tokens')
@PortalAccess('admin')
export class TokensController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly channels: GatewayChannels,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(@Caller() { accountId }: InAccount): Promise<ApiTokens> {
    const tokens = await this.accounts.tokens(accountId);
    return {
      data: tokens.map(({ tokenId: id, createdAt, expiresAt, lastUsedAt, ...token }) => ({
        id,
        ...token,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
      })),
      scopes: this.channels.tokenScopes,
    };
  }

  @Post()
  async create(
    @Caller() { accountId, actor }: InAccount,
    @JsonBody(NewTokenBody) { name, scopes, expiresAt }: NewTokenBody,
  ): Promise<CreatedApiToken> {
    const wanted = { name, scopes, expiresAt: parseTimestamp(expiresAt) ?? null };
    const also = this.audit.also(actor, 'token.created');
    const { tokenId: id, apiToken: token } = await this.accounts.createToken(
      accountId,
      wanted,
      also,
    );
    return { id, token, formerUntil: null };
  }

  @Post(':id/rotate')
  @HttpCode(200)
  async rotate(
    @Caller() { accountId, actor }: InAccount,
    @Param('id') tokenId: string,
    @JsonBody(RotateBody) { overlapHours }: RotateBody,
  ): Promise<CreatedApiToken> {
    const overlap = overlapHours * HOUR;
    const action = overlap > 0 ? 'token.rotated_with_overlap' : 'token.rotated';
    const also = this.audit.also(actor, action);
    const made = await this.accounts.rotate(accountId, { tokenId, overlap }, also);
    return {
      id: made.tokenId,
      token: made.apiToken,
      formerUntil: made.formerUntil?.toISOString() ?? null,
    };
  }

  @Delete(':id')
  @HttpCode(204)
  async revoke(@Caller() { accountId, actor }: InAccount, @Param('id') id: string): Promise<void> {
    await this.accounts.revokeToken(accountId, id, this.audit.also(actor, 'token.revoked', id));
  }
}
