import { Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { GatewayChannels } from '../../channel.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { ApiError } from '../../http/api-error.js';
import type { HttpReply } from '../../http/http-message.js';
import { JsonBody } from '../../http/request.decorators.js';
import type { Actor } from '../audit.js';
import { LiveStreams } from '../live-streams.js';
import type { Listed, OwnSession, Session, SetupInfo } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { ChangePasswordBody, SetupCodeBody, SetUpBody, SignInBody } from '../portal.dto.js';
import { PortalAccess } from '../portal.guard.js';
import {
  accountIn,
  By,
  cookieOf,
  cookieValueOf,
  Current,
  type PortalRequest,
  VisitorOf,
} from '../portal-request.js';
import { type SignedIn, SessionsService } from './sessions.service.js';
import { SetUpLinks } from './set-up-links.js';
import type { Visitor } from './known-places.js';
import { SecondFactors } from './second-factors.service.js';
import { UsersService } from './users.service.js';

/** Signing in and out, and set-up links. */
@PortalController('')
export class SessionController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly users: UsersService,
    private readonly links: SetUpLinks,
    private readonly factors: SecondFactors,
    private readonly streams: LiveStreams,
    private readonly channels: GatewayChannels,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  @Get('session')
  @PortalAccess('everybody')
  async session(@Req() request: PortalRequest): Promise<Session> {
    const cookie = cookieValueOf('session', request, this.environment);
    const ended =
      request.portal || cookie === undefined ? null : await this.sessions.endingOf(cookie);
    return { ...(await this.#sessionOf(request.portal)), ended };
  }

  @Post('session')
  @HttpCode(200)
  @PortalAccess('everybody')
  async signIn(
    @Req() request: PortalRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @JsonBody(SignInBody) { email, password, secondFactor }: SignInBody,
  ): Promise<Session> {
    const userId = await this.users.verify(request, email, password);
    if (userId === undefined)
      throw new ApiError('unauthorized', 'The e-mail address or the password is wrong');
    const step = await this.factors.check(userId, secondFactor);
    if (step === 'missing') return this.#asksForCode();
    if (step === 'wrong')
      throw new ApiError(
        'unauthorized',
        'The code is wrong, or was used before; wait for the next one',
      );
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
    reply.header('set-cookie', cookieOf('session', '', request, this.environment));
  }

  @Get('session/all')
  @PortalAccess('user')
  async sessionsOf(@Current() signedIn: SignedIn): Promise<Listed<OwnSession>> {
    return { data: await this.sessions.listOf(signedIn), nextCursor: null };
  }

  @Delete('session/all/:id')
  @HttpCode(204)
  @PortalAccess('user')
  async endOther(
    @Current() signedIn: SignedIn,
    @By() actor: Actor,
    @Param('id') id: string,
  ): Promise<void> {
    this.streams.endOf(await this.sessions.endOther(signedIn, id, actor));
  }

  @Post('session/password')
  @HttpCode(204)
  @PortalAccess('user')
  changePassword(
    @VisitorOf() visitor: Visitor,
    @Current() signedIn: SignedIn,
    @JsonBody(ChangePasswordBody) change: ChangePasswordBody,
  ): Promise<void> {
    return this.users.changePassword(signedIn, visitor, change);
  }

  @Post('setup/check')
  @HttpCode(200)
  @PortalAccess('everybody')
  explain(
    @VisitorOf() visitor: Visitor,
    @JsonBody(SetupCodeBody) { code }: SetupCodeBody,
  ): Promise<SetupInfo> {
    return this.links.explain(visitor, code);
  }

  @Post('setup')
  @HttpCode(200)
  @PortalAccess('everybody')
  async setUp(
    @Req() request: PortalRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @JsonBody(SetUpBody) body: SetUpBody,
  ): Promise<Session> {
    const done = await this.links.setUp(request, body);
    return done ? this.#start(request, reply, done.userId, done.accountId) : this.#asksForCode();
  }

  async #start(
    request: PortalRequest,
    reply: HttpReply,
    userId: string,
    accountId: string | null = null,
  ): Promise<Session> {
    const { environment } = this;
    const browser = request.browser ?? randomBytes(32).toString('base64url');
    const token = await this.sessions.start(userId, {
      ip: request.ip,
      browser,
      accountId,
      former: cookieValueOf('session', request, environment),
      userAgent: request.headers['user-agent'],
    });
    reply.header('set-cookie', [
      cookieOf('session', token, request, environment),
      cookieOf('browser', browser, request, environment),
    ]);
    return this.#sessionOf(
      (await this.sessions.read(token, { accountId: accountIn(request) })) ?? null,
    );
  }

  /** Signed out, until the request is repeated with the code. */
  async #asksForCode(): Promise<Session> {
    return { ...(await this.#sessionOf(null)), missing: 'code' };
  }

  async #sessionOf(signedIn: SignedIn | null): Promise<Session> {
    const { NODE_ENV: environment, carriers } = this.environment;
    return {
      user: signedIn?.user ?? null,
      account: signedIn?.account ?? null,
      accounts: signedIn ? await this.sessions.accountsOf(signedIn) : [],
      environment,
      simulator: carriers.all.some(({ traits }) => traits.isSimulated),
      curls: signedIn
        ? Object.fromEntries(
            this.channels.all.flatMap(({ name, curl }) => (curl ? [[name, curl]] : [])),
          )
        : {},
      missing: signedIn?.lacksSecondFactor ? 'second factor' : null,
      ended: null,
    };
  }
}
