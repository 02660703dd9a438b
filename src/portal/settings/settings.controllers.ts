import { Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts.service.js';
import { ApiError } from '../../http/api-error.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { Audit } from '../audit.js';
import {
  InvitationBody,
  listedOf,
  MemberChangeBody,
  PortalQuery,
  SecurityBody,
} from '../portal.dto.js';
import type {
  AuditEntry,
  InvitationLink,
  Listed,
  Member,
  Members,
  RotatedToken,
  Security,
  TokenInfo,
} from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { Caller, Current, type InAccount } from '../portal-request.js';
import type { SignedIn } from '../sign-in/sessions.service.js';
import { invitationOf, SetUpLinks } from '../sign-in/set-up-links.js';
import { UsersService } from '../sign-in/users.service.js';

@PortalController('security')
@PortalAccess('admin')
export class SecurityController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly audit: Audit,
  ) {}

  @Get()
  async security(@Caller() { accountId: id }: Pick<InAccount, 'accountId'>): Promise<Security> {
    const { secondFactor } = await this.accounts.find(id);
    const requiresSecondFactor = secondFactor === 'required';
    return { token: await this.#tokenOf(id), requiresSecondFactor };
  }

  @Patch()
  async change(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(SecurityBody) { requiresSecondFactor }: SecurityBody,
  ): Promise<Security> {
    const secondFactor = requiresSecondFactor ? 'required' : null;
    const also = this.audit.also(actor, 'account.second_factor', secondFactor ?? 'off');
    await this.accounts.change(id, { secondFactor }, also);
    return this.security({ accountId: id });
  }

  @Post('rotate')
  @HttpCode(200)
  async rotate(@Caller() { accountId: id, actor }: InAccount): Promise<RotatedToken> {
    const token = await this.accounts.rotateToken(id, this.audit.also(actor, 'token.rotated'));
    const info = await this.#tokenOf(id);
    if (!info) throw new ApiError('unavailable', 'The token was rotated again; read it again');
    return { token, info };
  }

  async #tokenOf(accountId: string): Promise<TokenInfo | null> {
    const found = await this.accounts.token(accountId);
    if (!found) return null;
    const { lastFour, createdAt, lastUsedAt } = found;
    return {
      lastFour,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
    };
  }
}

@PortalController('members')
@PortalAccess('admin')
export class MembersController {
  constructor(
    private readonly users: UsersService,
    private readonly links: SetUpLinks,
  ) {}

  @Get()
  async members(
    @Caller() { accountId: id }: InAccount,
    @Current() { user }: SignedIn,
  ): Promise<Members> {
    const [data, invitations] = await Promise.all([
      this.users.members(id, user.id),
      this.links.invitations(id),
    ]);
    return { data, invitations };
  }

  @Post()
  async invite(
    @Caller() { accountId, actor }: InAccount,
    @JsonBody(InvitationBody) { role, email }: InvitationBody,
  ): Promise<InvitationLink> {
    const { link, ...made } = await this.links.invite(
      { accountId, role, operator: false, email },
      actor,
    );
    return { invitation: invitationOf(made, role, email?.toLowerCase() ?? null), link };
  }

  @Patch(':userId')
  changeRole(
    @Caller() { actor }: InAccount,
    @Param('userId') userId: string,
    @JsonBody(MemberChangeBody) { role }: MemberChangeBody,
  ): Promise<Member> {
    return this.users.changeRole(userId, role, actor);
  }

  @Delete('invitations/:id')
  @HttpCode(204)
  async withdraw(@Caller() { actor }: InAccount, @Param('id') id: string): Promise<void> {
    await this.links.withdraw(id, actor);
  }

  @Delete(':userId')
  @HttpCode(204)
  async remove(@Caller() { actor }: InAccount, @Param('userId') userId: string): Promise<void> {
    await this.users.removeMember(userId, actor);
  }
}

@PortalController('audit')
@PortalAccess('admin of any')
export class AuditController {
  constructor(private readonly audit: Audit) {}

  /** Entries of the account; for an operator without one, of all accounts. */
  @Get()
  async entries(
    @Current() { account }: SignedIn,
    @ValidQuery(PortalQuery) query: PortalQuery,
  ): Promise<Listed<AuditEntry>> {
    return listedOf(await this.audit.list(account?.id ?? null, query), (entry) => entry);
  }
}
