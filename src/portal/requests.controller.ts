import { Get } from '@nestjs/common';
import { RequestLogReader } from '../accounts/request-log.js';
import { Choice, Text } from '../http/fields.js';
import { ValidQuery } from '../http/request.decorators.js';
import { listedOf, PortalQuery } from './portal.dto.js';
import type { Listed, RequestEntry } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { Caller, type InAccount } from './portal-request.js';

class RequestsQuery extends PortalQuery {
  /** Id of a key or token. */
  @Text({ optional: true, minLength: 1, maxLength: 32 }) readonly key?: string;
  @Choice(['true'], { optional: true }) readonly refused?: 'true';
}

/** Requests to the API with the keys and tokens of the account. */
@PortalController('requests')
@PortalAccess('admin')
export class PortalRequestsController {
  constructor(private readonly log: RequestLogReader) {}

  @Get()
  async list(
    @Caller() { accountId }: InAccount,
    @ValidQuery(RequestsQuery) { key, refused, ...page }: RequestsQuery,
  ): Promise<Listed<RequestEntry>> {
    const filter = { ...page, credential: key, refused: refused === 'true' };
    const found = await this.log.list(accountId, filter);
    const names = await this.log.namesOf(found.data);
    return listedOf(found, ({ at, credentialId: keyId, ...entry }) => {
      return { at: at.toISOString(), keyId, key: names.get(keyId) ?? null, ...entry };
    });
  }
}
