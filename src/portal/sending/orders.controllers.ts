import {
  type AlsoOption,
  MessagingService,
  VasOrderError,
  type VasOrderView,
  VasService,
} from '@dundun/messaging';
import { partialAddress } from '@dundun/messaging/values';
import { HoldsService } from '@dundun/messaging/operations';
import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { AccountsService } from '../../accounts/accounts.service.js';
import { ApiError } from '../../http/api-error.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { type Actor, Audit } from '../audit.js';
import { listedOf, OrdersQuery, SettleBody } from '../portal.dto.js';
import type { Listed, OpenOrders, PlacedOrder } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { By, Caller, Current, type InAccount } from '../portal-request.js';
import type { SignedIn } from '../sign-in/sessions.service.js';

/** Orders of the account. */
@PortalController('orders')
@PortalAccess('viewer')
export class OrdersController {
  constructor(private readonly vas: VasService) {}

  @Get()
  async list(
    @Caller() { accountId: tenant }: InAccount,
    @ValidQuery(OrdersQuery) { q, cursor, limit }: OrdersQuery,
  ): Promise<Listed<PlacedOrder>> {
    if (q === undefined)
      return listedOf(await this.vas.list({ tenant, cursor, limit }), placedOrder);
    const named = await this.vas.findByReference(q, { tenant });
    const found = named ?? (await this.#byId(q, tenant));
    return { data: found ? [placedOrder(found)] : [], nextCursor: null };
  }

  async #byId(text: string, tenant: string): Promise<VasOrderView | undefined> {
    const id = text.toLowerCase();
    const order = isUUID(id) ? (await this.vas.findAll([id])).get(id) : undefined;
    return order?.tenant === tenant ? order : undefined;
  }
}

/** Orders of all accounts that an operator has to look after. */
@PortalController('open-orders')
@PortalAccess('operator')
export class OpenOrdersController {
  constructor(
    private readonly vas: VasService,
    private readonly holds: HoldsService,
    private readonly accounts: AccountsService,
    private readonly messaging: MessagingService,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(): Promise<OpenOrders> {
    const data: OpenOrders['data'][number][] = [];
    for (const order of await this.vas.open({ limit: 100 })) {
      const { name: accountName } = await this.accounts.find(order.tenant);
      data.push({ ...placedOrder(order), accountId: order.tenant, accountName });
    }
    return { data, heldSince: (await this.#hold())?.since.toISOString() ?? null };
  }

  @Post(':id/settle')
  @HttpCode(204)
  async settle(
    @By() actor: Actor,
    @Current() { user }: SignedIn,
    @Param('id') id: string,
    @JsonBody(SettleBody) { accountId, as, note }: SettleBody,
  ): Promise<void> {
    const order = await this.vas.find(id, { tenant: accountId });
    if (!isOpen(order)) throw new ApiError('already_sent', `The order is ${order.status}`);
    const also: AlsoOption['also'] = (manager) =>
      this.audit.record(manager, { ...actor, accountId }, 'order.settled', `${id} as ${as}`);
    await this.vas
      .settle(id, { tenant: accountId, as, by: user.email, note: note || undefined, also })
      .catch((error: unknown) => {
        if (!(error instanceof VasOrderError)) throw error;
        throw new ApiError('already_sent', error.message, { cause: error });
      });
  }

  /** Lets the orders of a restored database go; the operator knows those that it has. */
  @Post('release')
  @HttpCode(204)
  async release(@By() actor: Actor): Promise<void> {
    if (await this.holds.restoredSince())
      throw new ApiError('already_sent', 'Release the other lanes first: dundun lanes release');
    await this.messaging.transaction(async (manager) => {
      if (!(await this.holds.release(HELD, { manager })))
        throw new ApiError('not_found', 'No orders are held as those of a restored database');
      await this.audit.record(manager, { ...actor, accountId: null }, 'orders.released');
    });
  }

  async #hold() {
    const holds = await this.holds.list();
    return holds.find(({ lanes, reason }) => lanes === HELD.lanes && reason === HELD.reason);
  }
}

/** The hold of orders in a restored database. */
const HELD = { lanes: '*:vas', reason: 'restored' };

const isOpen = ({ status }: VasOrderView): boolean =>
  status === 'unknown' || status === 'processing';

function placedOrder(order: VasOrderView): PlacedOrder {
  const { id, clientReference, to, product, amount, currency, status, settlement } = order;
  return {
    id,
    clientReference,
    to: to && partialAddress({ kind: 'phone', value: to }),
    product,
    amount,
    currency,
    status,
    canSettle: isOpen(order),
    settlement: settlement && { as: settlement.as, by: settlement.by },
    createdAt: order.createdAt.toISOString(),
  };
}
