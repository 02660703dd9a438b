import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { readAddress } from '@dundun/messaging';
import { AccountId, Auth } from '../accounts/auth.guard.js';
import { ApiError } from '../http/api-error.js';
import { Operation } from '../http/operation.decorator.js';
import { pageOf } from '../http/page.dto.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import {
  AddSuppression,
  ImportedSuppressions,
  ImportSuppressions,
  SuppressionPage,
  suppressionOf,
  SuppressionsQuery,
} from './suppressions.dto.js';
import { SuppressionsService } from './suppressions.service.js';

@Controller('email/ng/v1/suppressions')
@ApiTags('Email')
export class SuppressionsController {
  constructor(private readonly suppressions: SuppressionsService) {}

  @Get()
  @Auth('api_key', 'email:read')
  @Operation('List suppressed addresses', {
    answer: SuppressionPage,
    success: 'A page of entries, by address; an address has one for each category.',
  })
  async listSuppressions(
    @AccountId() account: string,
    @ValidQuery(SuppressionsQuery) query: SuppressionsQuery,
  ): Promise<SuppressionPage> {
    return pageOf(await this.suppressions.list(account, query), suppressionOf);
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
    @JsonBody(AddSuppression) entry: AddSuppression,
  ): Promise<SuppressionPage> {
    await this.suppressions.add(account, [entry]);
    const { email } = entry;
    return pageOf(await this.suppressions.list(account, { email, limit: 1_000 }), suppressionOf);
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
    await this.suppressions.add(account, suppressions);
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
    if (!readAddress(email, ['email']))
      throw new ApiError('not_found', 'This address is not on the suppression list');
    await this.suppressions.lift(account, email);
  }
}
