import { type Page, VasOrderNotFoundError, type VasOrderView, VasService } from '@dundun/messaging';
import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { isUUID } from 'class-validator';
import { AccountId, Auth, Spends } from '../../accounts/auth.guard.js';
import type { Spending } from '../../accounts/credentials.js';
import { PendingSends } from '../../accounts/limits.js';
import { MessageCosts } from '../../billing/charging/message-costs.js';
import { inWireFields, isNotSetUp, notSetUp } from '../../http/error-mapping.js';
import type { HttpReply } from '../../http/http-message.js';
import { Operation } from '../../http/operation.decorator.js';
import { pageOf } from '../../http/page.dto.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { Metrics } from '../../metrics/metrics.js';
import {
  Order,
  orderOf,
  OrderPage,
  OrdersQuery,
  PlaceOrder,
  ProductList,
  productOf,
} from './orders.dto.js';

const FIELDS = { clientReference: 'client_reference' };

/** Orders of airtime and data. */
@Controller('ng/v1/vas')
@ApiTags('VAS')
export class VasOrdersController {
  constructor(
    private readonly vas: VasService,
    private readonly pending: PendingSends,
    private readonly metrics: Metrics,
    private readonly costs: MessageCosts,
  ) {}

  @Get('products')
  @Auth('api_token', 'orders:read')
  @Operation('List products', {
    description:
      'Each with its type, network, currency, and its price or the amounts that an order may have.',
    answer: ProductList,
    success: 'What can be ordered.',
  })
  async listVasProducts(): Promise<ProductList> {
    const products = await this.vas.products().catch(refuse);
    return { data: products.map(productOf) };
  }

  @Post('orders')
  @Auth('api_token', 'orders:write')
  @Operation('Place an order', {
    description:
      'The order is stored and sent once. `client_reference` makes a repetition safe at any time: with the same content it answers the first order.',
    answer: Order,
    success: 'The order, or the first one with this reference.',
    errors: ['DuplicateOrder'],
  })
  async placeOrder(
    @Spends() spending: Spending,
    @JsonBody(PlaceOrder) request: PlaceOrder,
    @Res({ passthrough: true }) reply: HttpReply,
  ): Promise<Order> {
    const {
      client_reference: clientReference,
      allow_duplicate: allowDuplicate,
      ...given
    } = request;
    const { delivery_report, ...order } = given;
    const deliveryReport = delivery_report === 'yes';
    const { order: placed, replayed } = await this.pending
      .during(1, () =>
        this.vas.order({ ...order, clientReference, deliveryReport, allowDuplicate }, spending),
      )
      .catch(refuse);
    if (replayed) {
      reply.header('idempotent-replayed', 'true');
      return this.#shown(placed);
    }
    this.metrics.accepted('vas', 1);
    const { id: batchId, tenant, to: recipient } = placed;
    return orderOf(placed, await this.costs.ofAccepted({ tenant, batchId, recipient }));
  }

  @Get('orders')
  @Auth('api_token', 'orders:read')
  @Operation('List orders', {
    description: 'Newest first; with `client_reference` the one order that has it, if any.',
    answer: OrderPage,
    success: 'A page of orders.',
  })
  async listOrders(
    @AccountId() tenant: string,
    @ValidQuery(OrdersQuery) { client_reference: reference, cursor, limit }: OrdersQuery,
  ): Promise<OrderPage> {
    if (reference === undefined) return this.#page(await this.vas.list({ tenant, cursor, limit }));
    const order = await this.vas.findByReference(reference, { tenant });
    return this.#page({ data: order ? [order] : [], nextCursor: null });
  }

  @Get('orders/:orderId')
  @Auth('api_token', 'orders:read')
  @Operation('Read an order', {
    description: 'Its status, and what arrived once the operator has answered.',
    answer: Order,
    success: 'The order.',
  })
  async readOrder(@AccountId() tenant: string, @Param('orderId') id: string): Promise<Order> {
    if (!isUUID(id)) throw new VasOrderNotFoundError();
    return this.#shown(await this.vas.find(id.toLowerCase(), { tenant }));
  }

  async #shown(order: VasOrderView): Promise<Order> {
    return orderOf(order, (await this.costs.ofBatches([order.id])).get(order.id));
  }

  async #page(page: Page<VasOrderView>): Promise<OrderPage> {
    const costs = await this.costs.ofBatches(page.data.map(({ id }) => id));
    return pageOf(page, (order) => orderOf(order, costs.get(order.id)));
  }
}

function refuse(error: unknown): never {
  if (isNotSetUp(error)) throw notSetUp(error, 'VAS');
  throw inWireFields(error, FIELDS);
}
