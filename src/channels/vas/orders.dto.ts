import type { VasOrderView, VasProduct } from '@dundun/messaging';
import type { Cost } from '../../billing/charging/message-costs.js';
import {
  Choice,
  Field,
  Flag,
  PhoneNumber,
  Price,
  RECIPIENT,
  Text,
  Timestamp,
  Uuid,
} from '../../http/fields.js';
import { ListQuery, PageOf } from '../../http/page.dto.js';
import { MetadataOfSend, TagsOfSend } from '../../http/label-fields.js';
import { BodyExamples } from '../../http/request.decorators.js';

const ORDER_STATUSES = [
  'queued',
  'sending',
  'unknown',
  'processing',
  'expired',
  'failed',
  'rejected',
  'delivered',
  'reversed',
  'cancelled',
];

const AMOUNT = { pattern: '^(0|[1-9][0-9]{0,9})(\\.[0-9]{1,4})?$', examples: ['100'] } as const;
const AMOUNT_RULE = "must be a decimal number as a text, such as '100' or '99.50'";

const CURRENCY = { pattern: '^[A-Z]{3}$', examples: ['NGN'] } as const;
const CURRENCY_RULE = 'must be three capital letters, such as NGN';

const REFERENCE = { pattern: '^[\\x21-\\x7e]{1,255}$', examples: ['shop-1001'] } as const;
const REFERENCE_RULE = 'must be 1 to 255 visible ASCII characters, without spaces';

export class Product {
  @Text({ examples: ['airtime-ng'] }) readonly id!: string;
  @Choice(['airtime', 'data']) readonly type!: VasProduct['type'];
  @Text({ examples: ['Simulated NG'] }) readonly network!: string;
  @Text({ examples: ['Airtime'] }) readonly name!: string;

  @Text({
    optional: true,
    description: 'The price; without it the order names an amount from `min` to `max`.',
    examples: ['300'],
  })
  readonly amount?: string;

  @Text({ optional: true, examples: ['50'] }) readonly min?: string;
  @Text({ optional: true, examples: ['50000'] }) readonly max?: string;
  @Text({ examples: ['NGN'] }) readonly currency!: string;

  @Text({ nullable: true, description: 'null: without end, or not known.', examples: ['30d'] })
  readonly validity!: string | null;
}

export class ProductList {
  @Field({ type: [Product] }) readonly data!: readonly Product[];
}

export function productOf(product: VasProduct): Product {
  const { id, type, network, name, amount, min, max, currency, validity } = product;
  return {
    id,
    type,
    network,
    name,
    currency,
    validity,
    ...(amount !== null && { amount }),
    ...(min !== null && { min }),
    ...(max !== null && { max }),
  };
}

@BodyExamples({
  airtime: {
    to: '2348012345678',
    product: 'airtime-ng',
    amount: '100',
    currency: 'NGN',
    client_reference: 'shop-1001',
    delivery_report: 'yes',
  },
  'a data bundle': {
    to: '2348012345678',
    product: 'data-ng-1gb',
    client_reference: 'shop-1002',
  },
})
export class PlaceOrder {
  @PhoneNumber() readonly to!: string;

  @Text({ minLength: 1, maxLength: 255, description: 'Id of a product.', examples: ['airtime-ng'] })
  readonly product!: string;

  @Text({
    ...AMOUNT,
    optional: true,
    description: 'Of airtime: a decimal number.',
    message: AMOUNT_RULE,
  })
  readonly amount?: string;

  @Text({
    ...CURRENCY,
    optional: true,
    description: 'Must be the product’s.',
    message: CURRENCY_RULE,
  })
  readonly currency?: string;

  @Text({
    ...REFERENCE,
    description:
      'Your own name of the order, never used again by the account: the same reference and content give the first order.',
    message: REFERENCE_RULE,
  })
  readonly client_reference!: string;

  @Text({
    optional: true,
    minLength: 1,
    maxLength: 255,
    description: 'Must be the product’s; the network of the number is not looked up.',
  })
  readonly network?: string;

  @Choice(['none', 'yes'], { optional: true, default: 'none' })
  readonly delivery_report: 'none' | 'yes' = 'none';

  @Flag({
    optional: true,
    default: false,
    description: 'Accept the same number, product and amount again within 60 seconds.',
  })
  readonly allow_duplicate: boolean = false;

  @TagsOfSend() readonly tags?: readonly string[];
  @MetadataOfSend() readonly metadata?: Readonly<Record<string, string>>;
}

class Settlement {
  @Choice(['delivered', 'failed']) readonly as!: 'delivered' | 'failed';
  @Timestamp() readonly at!: string;
}

export class Order {
  @Uuid() readonly id!: string;
  @Text({ examples: ['shop-1001'] }) readonly client_reference!: string;
  @Text({ ...RECIPIENT }) readonly to!: string;
  @Choice(['airtime', 'data']) readonly type!: VasProduct['type'];
  @Text({ examples: ['airtime-ng'] }) readonly product!: string;
  @Text({ examples: ['100'] }) readonly amount!: string;
  @Text({ examples: ['NGN'] }) readonly currency!: string;
  @Text({ nullable: true, examples: [null] }) readonly network!: string | null;

  @Choice(ORDER_STATUSES, {
    description:
      '`unknown`: the answer of the operator was lost; it is asked, and the order is not sent again. `reversed` may follow `delivered`.',
    examples: ['delivered'],
  })
  readonly status!: string;

  @Price({
    description:
      'What the account pays, or may still pay, in `currency`; where it is not charged, what the operator charged. null: not known.',
    examples: [97],
  })
  readonly cost!: number | null;

  @Text({ nullable: true, description: 'What arrived.', examples: ['100'] })
  readonly delivered_amount!: string | null;

  @Text({ nullable: true, examples: ['SIM-1'] }) readonly operator_reference!: string | null;
  @Text({ nullable: true, examples: [null] }) readonly error_code!: string | null;

  @Field({
    type: Settlement,
    nullable: true,
    description: 'A decision by a person about an order without an outcome.',
    examples: [null],
  })
  readonly settlement!: Settlement | null;

  @Timestamp() readonly created_at!: string;
}

export class OrderPage extends PageOf(Order) {}

export class OrdersQuery extends ListQuery {
  @Text({
    ...REFERENCE,
    optional: true,
    description: 'The one order with it.',
    message: REFERENCE_RULE,
  })
  readonly client_reference?: string;
}

/** @param charge `undefined`: the account is not charged; what the operator charged is shown */
export function orderOf(order: VasOrderView, charge: Cost | undefined): Order {
  const { id, clientReference, to, type, product, amount, currency, network, status } = order;
  const { cost, deliveredAmount, operatorReference, errorCode, createdAt, settlement } = order;
  return {
    id,
    client_reference: clientReference,
    to,
    type,
    product,
    amount,
    currency,
    network,
    status,
    cost: charge?.cost ?? (cost === null ? null : Number(cost)),
    delivered_amount: deliveredAmount,
    operator_reference: operatorReference,
    error_code: errorCode,
    settlement: settlement && { as: settlement.as, at: settlement.at.toISOString() },
    created_at: createdAt.toISOString(),
  };
}
