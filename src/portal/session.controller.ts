import { Delete, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { usesSimulator } from '../config/carriers-file.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';
import type { HttpReply } from '../http/http-message.js';
import { JsonBody } from '../http/request.decorators.js';
import type { Actor } from './audit.js';
import { LiveStreams } from './live-streams.js';
import type { Session, SetupInfo } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import {
  ChangePasswordBody,
  ChooseAccountBody,
  SetupCodeBody,
  SetUpBody,
  SignInBody,
} from './portal.dto.js';
import { PortalAccess } from './portal.guard.js';
import { By, cookieOf, Current, type PortalRequest, sessionCookieOf } from './portal-request.js';
import { type SignedIn, SessionsService } from './sessions.service.js';
import { SetUpLinks } from './set-up-links.js';
import { UsersService } from './users.service.js';

/** Signing in and out, set-up links, and the choice of an account. */
@PortalController('')
export class SessionController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly users: UsersService,
    private readonly links: SetUpLinks,
    private readonly streams: LiveStreams,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  @Get('session')
  @PortalAccess('everybody')
  session(@Req() { portal }: PortalRequest): Promise<Session> {
    return this.#sessionOf(portal);
  }

  @Post('session')
  @HttpCode(200)
  @PortalAccess('everybody')
  async signIn(
    @Req() request: PortalRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @JsonBody(SignInBody) { email, password }: SignInBody,
  ): Promise<Session> {
    const userId = await this.users.verify(request.ip, email, password);
    if (userId === undefined)
      throw new ApiError('unauthorized', 'The e-mail address or the password is wrong');
    return this.#start(request, reply, userId);
  }

  @Delete('session')
  @HttpCode(204)
  @PortalAccess('user')
  async signOut(
    @Req() request: PortalRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Current() { sessionId }: SignedIn,
    @By() actor: Actor,
  ): Promise<void> {
    await this.sessions.end(sessionId, actor);
    this.streams.endOf(sessionId);
    reply.header('set-cookie', cookieOf('', request, this.environment));
  }

  @Post('session/password')
  @HttpCode(204)
  @PortalAccess('user')
  changePassword(
    @Req() { ip }: PortalRequest,
    @Current() signedIn: SignedIn,
    @JsonBody(ChangePasswordBody) change: ChangePasswordBody,
  ): Promise<void> {
    return this.users.changePassword(signedIn, ip, change);
  }

  @Post('session/account')
  @HttpCode(200)
  @PortalAccess('user')
  async choose(
    @Current() signedIn: SignedIn,
    @JsonBody(ChooseAccountBody) { accountId }: ChooseAccountBody,
  ): Promise<Session> {
    const account = await this.sessions.choose(signedIn, accountId);
    return this.#sessionOf({ ...signedIn, account });
  }

  @Post('setup/check')
  @HttpCode(200)
  @PortalAccess('everybody')
  explain(
    @Req() { ip }: PortalRequest,
    @JsonBody(SetupCodeBody) { code }: SetupCodeBody,
  ): Promise<SetupInfo> {
    return this.links.explain(ip, code);
  }

  @Post('setup')
  @HttpCode(200)
  @PortalAccess('everybody')
  async setUp(
    @Req() request: PortalRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @JsonBody(SetUpBody) body: SetUpBody,
  ): Promise<Session> {
    const { userId, accountId } = await this.links.setUp(request.ip, body);
    return this.#start(request, reply, userId, accountId);
  }

  async #start(
    request: PortalRequest,
    reply: HttpReply,
    userId: string,
    accountId: string | null = null,
  ): Promise<Session> {
    const former = sessionCookieOf(request, this.environment);
    const token = await this.sessions.start(userId, request.ip, {
      accountId,
      ...(former !== undefined && { former }),
    });
    reply.header('set-cookie', cookieOf(token, request, this.environment));
    return this.#sessionOf((await this.sessions.read(token)) ?? null);
  }

  async #sessionOf(signedIn: SignedIn | null): Promise<Session> {
    const { NODE_ENV: environment, EMAIL_CARRIER } = this.environment;
    return {
      user: signedIn?.user ?? null,
      account: signedIn?.account ?? null,
      accounts: signedIn ? await this.sessions.accountsOf(signedIn) : [],
      environment,
      simulator: usesSimulator(this.environment) || EMAIL_CARRIER === 'simulator',
    };
  }
}
