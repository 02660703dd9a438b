import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { JsonBody } from '../../http/request.decorators.js';
import type { Actor } from '../audit.js';
import type { NewSecondFactor, RecoveryCodes, SecondFactorState } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { CodeBody, CurrentPasswordBody } from '../portal.dto.js';
import { PortalAccess } from '../portal.guard.js';
import { By, Current, VisitorOf } from '../portal-request.js';
import type { SignedIn } from './sessions.service.js';
import { UsersService } from './users.service.js';
import type { Visitor } from './known-places.js';
import { SecondFactors } from './second-factors.service.js';

/** The user's own authenticator app and recovery codes. */
@PortalController('second-factor')
@PortalAccess('user')
export class SecondFactorController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly users: UsersService,
  ) {}

  @Get()
  state(@Current() { user }: SignedIn): Promise<SecondFactorState> {
    return this.factors.stateOf(user.id);
  }

  /** The current password proves that the person is still there. */
  @Post()
  @HttpCode(200)
  async prepare(
    @VisitorOf() visitor: Visitor,
    @Current() { user }: SignedIn,
    @JsonBody(CurrentPasswordBody) { current }: CurrentPasswordBody,
  ): Promise<NewSecondFactor> {
    await this.users.requirePassword(visitor, user.email, current);
    return this.factors.prepare(user.id, user.email);
  }

  @Post('confirm')
  @HttpCode(200)
  confirm(
    @Current() { user, sessionId }: SignedIn,
    @By() actor: Actor,
    @JsonBody(CodeBody) { code }: CodeBody,
  ): Promise<RecoveryCodes> {
    return this.factors.confirm(user.id, code, { sessionId, actor });
  }

  @Post('recovery-codes')
  @HttpCode(200)
  renewCodes(
    @Current() { user }: SignedIn,
    @By() actor: Actor,
    @JsonBody(CodeBody) { code }: CodeBody,
  ): Promise<RecoveryCodes> {
    return this.factors.renewCodes(user.id, code, actor);
  }

  @Post('remove')
  @HttpCode(204)
  remove(
    @Current() { user }: SignedIn,
    @By() actor: Actor,
    @JsonBody(CodeBody) { code }: CodeBody,
  ): Promise<void> {
    return this.factors.remove(user.id, code, actor);
  }
}

/** For users who have lost the phone and the recovery codes. */
@PortalController('users')
@PortalAccess('operator')
export class UserSecondFactorController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly users: UsersService,
  ) {}

  /** @throws ApiError 404 */
  @Post(':userId/second-factor/reset')
  @HttpCode(204)
  async reset(@By() actor: Actor, @Param('userId') userId: string): Promise<void> {
    const { id } = await this.users.find(userId);
    await this.factors.reset(id, actor);
  }
}
