import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { readAddress } from '@dundun/messaging';
import { AccountId, Auth } from '../accounts/auth.guard.js';
import { ApiError } from '../http/api-error.js';
import { Operation } from '../http/operation.decorator.js';
import { pageOf } from '../http/page.dto.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { BlockedService, SUPPRESSIONS } from './blocked.service.js';
import {
  AddSuppression,
  ImportedSuppressions,
  ImportSuppressions,
  SuppressionPage,
  suppressionOf,
  SuppressionsQuery,
} from './suppressions.dto.js';

@Controller('email/ng/v1/suppressions')
@ApiTags('Email')
export class SuppressionsController {
  constructor(private readonly blocked: BlockedService) {}

  @Get()
  @Auth('api_key', 'email:read')
  @Operation('List suppressed addresses', {
    description: 'Nothing is sent to these addresses until their entries are removed.',
    answer: SuppressionPage,
    success: 'A page of entries, by address; an address has one for each category.',
  })
  async listSuppressions(
    @AccountId() account: string,
    @ValidQuery(SuppressionsQuery) { email: address, ...page }: SuppressionsQuery,
  ): Promise<SuppressionPage> {
    return this.#page(account, { ...page, address });
  }

  @Post()
  @Auth('api_key', 'contacts:write')
  @Operation('Suppress an address', {
    description: 'An address that is suppressed already keeps its reason.',
    answer: SuppressionPage,
    success: 'The entries of the address.',
  })
  async addSuppression(
    @AccountId() account: string,
    @JsonBody(AddSuppression) { email: address, ...entry }: AddSuppression,
  ): Promise<SuppressionPage> {
    await this.blocked.add(account, SUPPRESSIONS, [{ address, ...entry }]);
    return this.#page(account, { address, limit: 1_000 });
  }

  @Post('import')
  @Auth('api_key', 'contacts:write')
  @Operation('Suppress many addresses', {
    description: 'Stores all or none. An address that is suppressed already keeps its reason.',
    answer: ImportedSuppressions,
    success: 'The number of entries.',
  })
  async importSuppressions(
    @AccountId() account: string,
    @JsonBody(ImportSuppressions) { suppressions }: ImportSuppressions,
  ): Promise<ImportedSuppressions> {
    const entries = suppressions.map(({ email: address, ...entry }) => ({ address, ...entry }));
    await this.blocked.add(account, SUPPRESSIONS, entries);
    return { processed: suppressions.length };
  }

  @Delete(':email')
  @Auth('api_key', 'contacts:write')
  @Operation('Lift the suppression of an address', {
    description: 'Of every reason but `unsubscribe`, which only the recipient takes back.',
    status: 204,
    success: 'The address gets email again.',
    errors: ['Unprocessable'],
  })
  async liftSuppression(
    @AccountId() account: string,
    @Param('email') email: string,
  ): Promise<void> {
    if (!readAddress(email, ['email'])) throw new ApiError('not_found', SUPPRESSIONS.missing);
    await this.blocked.lift(account, SUPPRESSIONS, email);
  }

  async #page(
    account: string,
    page: Parameters<BlockedService['list']>[2],
  ): Promise<SuppressionPage> {
    return pageOf(await this.blocked.list(account, SUPPRESSIONS, page), suppressionOf);
  }
}
