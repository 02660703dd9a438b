import { type AddressKind, MessagingService } from '@dundun/messaging';
import { partialAddress } from '@dundun/messaging/values';
import { Get, HttpCode, Post, type Type } from '@nestjs/common';
import {
  BlockedService,
  type BlockList,
  DO_NOT_CALL,
  SUPPRESSIONS,
} from '../../blocked/blocked.service.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { Audit, type AuditAction } from '../audit.js';
import {
  DoNotCallBody,
  DoNotCallQuery,
  LiftSuppressionBody,
  listedOf,
  type RevealQuery,
  SuppressionBody,
  SuppressionsQuery,
} from '../portal.dto.js';
import type { BlockedAddress, Listed } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { mayReveal, PortalAccess } from '../portal.guard.js';
import { Caller, type InAccount } from '../portal-request.js';

type Field = 'email' | 'phone';
type Named = { readonly [name in Field]?: string };

/** How the portal names a list, and an address of it. */
interface PortalList {
  readonly list: BlockList;
  readonly path: string;
  readonly lift: string;
  readonly field: Field & AddressKind;
  readonly actions: Readonly<Record<'revealed' | 'added' | 'lifted', AuditAction>>;
  readonly query: Type<RevealQuery & Named>;
  readonly body: Type<Named & { readonly category?: string }>;
  readonly lifted: Type<Named>;
}

/** `GET`, `POST` and `POST …/lift` of a list. */
function controllerOf({ list, field, ...of }: PortalList): Type<object> {
  @PortalController(of.path)
  class BlockedController {
    constructor(
      private readonly blocked: BlockedService,
      private readonly messaging: MessagingService,
      private readonly audit: Audit,
    ) {}

    /** The address that the person asks for is whole. */
    @Get()
    @PortalAccess('viewer')
    async list(
      @Caller() { accountId: id, role, actor }: InAccount,
      @ValidQuery(of.query) { reveal, cursor, limit, [field]: address }: RevealQuery & Named,
    ): Promise<Listed<BlockedAddress & Named>> {
      const isRevealed = mayReveal(reveal, role);
      if (isRevealed)
        await this.messaging.transaction((manager) =>
          this.audit.record(manager, actor, of.actions.revealed),
        );
      const isWhole = isRevealed || address !== undefined;
      const page = await this.blocked.list(id, list, { cursor, limit, address });
      return listedOf(page, ({ address: own, category, reason, messageId, at }) => ({
        [field]: own ? (isWhole ? own.value : partialAddress(own)) : '',
        reason,
        category: category === '*' ? null : category,
        messageId,
        createdAt: at.toISOString(),
      }));
    }

    @Post()
    @HttpCode(204)
    @PortalAccess('sender')
    async add(
      @Caller() { accountId: id, actor }: InAccount,
      @JsonBody(of.body) { [field]: address = '', category }: Named & { category?: string },
    ): Promise<void> {
      const also = this.audit.also(actor, of.actions.added, masked(address));
      await this.blocked.add(id, list, [{ address, category }], also);
    }

    @Post(of.lift)
    @HttpCode(204)
    @PortalAccess('sender')
    async lift(
      @Caller() { accountId: id, actor }: InAccount,
      @JsonBody(of.lifted) { [field]: address = '' }: Named,
    ): Promise<void> {
      const also = this.audit.also(actor, of.actions.lifted, masked(address));
      await this.blocked.lift(id, list, address, also);
    }
  }

  const masked = (value: string) => partialAddress({ kind: field, value });
  return BlockedController;
}

export const PortalSuppressionsController = controllerOf({
  list: SUPPRESSIONS,
  path: 'suppressions',
  lift: 'lift',
  field: 'email',
  actions: {
    revealed: 'suppressions.revealed',
    added: 'suppression.added',
    lifted: 'suppression.lifted',
  },
  query: SuppressionsQuery,
  body: SuppressionBody,
  lifted: LiftSuppressionBody,
});

export const DoNotCallController = controllerOf({
  list: DO_NOT_CALL,
  path: 'do-not-call',
  lift: 'remove',
  field: 'phone',
  actions: {
    revealed: 'do_not_call.revealed',
    added: 'do_not_call.added',
    lifted: 'do_not_call.removed',
  },
  query: DoNotCallQuery,
  body: DoNotCallBody,
  lifted: DoNotCallBody,
});
