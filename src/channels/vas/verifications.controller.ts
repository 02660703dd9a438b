import {
  type Verification as LibraryVerification,
  VerificationLimitError,
  VerificationNotFoundError,
  VerificationService,
} from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { isUUID } from 'class-validator';
import { AccountId, Auth, Spends } from '../../accounts/auth.guard.js';
import type { Spending } from '../../accounts/credentials.js';
import { PendingSends } from '../../accounts/limits.js';
import { MessageCosts } from '../../billing/charging/message-costs.js';
import { ApiError, invalidField } from '../../http/api-error.js';
import { numberRemedy } from '../../http/fields.js';
import type { HttpReply } from '../../http/http-message.js';
import { Operation } from '../../http/operation.decorator.js';
import { IdempotencyKey, JsonBody } from '../../http/request.decorators.js';
import { Metrics } from '../../metrics/metrics.js';
import { VerificationSenders } from './verification-senders.js';
import {
  CheckVerification,
  StartVerification,
  Verification,
  VerificationAnswer,
  verificationOf,
} from './verifications.dto.js';

/** One-time codes. */
@Controller('ng/v1/vas/verifications')
@ApiTags('VAS')
export class VerificationsController {
  constructor(
    private readonly verification: VerificationService,
    private readonly senders: VerificationSenders,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
    private readonly channels: ChannelRegistry,
    private readonly costs: MessageCosts,
  ) {}

  @Post()
  @Auth('api_token', 'verifications:write')
  @Operation('Send a one-time code', {
    description:
      'The code is only in the message, which goes out with priority. A recipient waits longer after each code; its network and country, and the account, have limits of their own.',
    answer: Verification,
    success: 'The code is on its way.',
    idempotent: true,
  })
  async startVerification(
    @Spends() spending: Spending,
    @IdempotencyKey() idempotencyKey: string | undefined,
    @JsonBody(StartVerification) request: StartVerification,
    @Res({ passthrough: true }) reply: HttpReply,
  ): Promise<Verification> {
    const { to, channel, length, ttl, attempts } = request;
    const isCalled = this.channels.get(channel).addressKinds[0] === 'phone';
    const remedy = isCalled ? numberRemedy(to) : undefined;
    if (remedy !== undefined) throw invalidField('to', remedy);
    const sent = await this.senders.of(spending.tenant, channel);
    const started = await this.pending
      .during(1, () =>
        this.verification.start(
          { to, channel, length, ttl, attempts, ...sent },
          { ...spending, idempotencyKey },
        ),
      )
      .catch(refuse);
    if (started.replayed) reply.header('idempotent-replayed', 'true');
    else this.metrics.accepted(channel, 1);
    return this.#shown(started);
  }

  @Get(':verificationId')
  @Auth('api_token', 'verifications:read')
  @Operation('Read a verification', {
    description: 'Its state and when it expires, without the code.',
    answer: Verification,
    success: 'The verification.',
  })
  async readVerification(
    @AccountId() tenant: string,
    @Param('verificationId') id: string,
  ): Promise<Verification> {
    return this.#shown(await this.verification.find(idOf(id), { tenant }));
  }

  async #shown(found: LibraryVerification): Promise<Verification> {
    const costs = await this.costs.ofBatches([found.batchId]);
    return verificationOf(found, costs.get(found.batchId));
  }

  @Post(':verificationId/check')
  @Auth('api_token', 'verifications:write')
  @Operation('Check a code', {
    description: 'A wrong code counts as an attempt.',
    answer: VerificationAnswer,
    success: 'Whether this code verifies.',
  })
  async checkVerification(
    @AccountId() tenant: string,
    @Param('verificationId') id: string,
    @JsonBody(CheckVerification) { code }: CheckVerification,
  ): Promise<VerificationAnswer> {
    return this.verification.check(idOf(id), code, { tenant });
  }
}

function idOf(id: string): string {
  if (!isUUID(id)) throw new VerificationNotFoundError();
  return id.toLowerCase();
}

function refuse(error: unknown): never {
  if (error instanceof VerificationLimitError)
    throw new ApiError('rate_limited', error.message, {
      headers: { 'retry-after': String(Math.ceil(error.retryAfter / 1_000)) },
      cause: error,
    });
  throw error;
}
