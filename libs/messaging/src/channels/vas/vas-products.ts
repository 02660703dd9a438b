import { Logger } from '@nestjs/common';
import { MessageValidationError, validated } from '../../message/errors.js';
import { digitsOf, fitsCurrency, unitsOf } from '../../message/money.js';
import type { VasProduct } from '../../message/vas.js';
import type { Clock } from '../../ports/clock.js';
import type { MessageTransport, Transports } from '../../ports/message-transport.js';
import type { Router } from '../../routing/router.js';
import { type VasOrder, VasOrderError } from './vas-order.js';

/** Milliseconds for which the list of the operator is remembered. */
const LASTS = 600_000;
const TIMEOUT = 20_000;

export interface OrderedProduct {
  readonly product: VasProduct;
  readonly amount: bigint;
}

export class VasProducts {
  readonly #logger = new Logger('VasService');
  #known: { readonly at: number; readonly all: readonly VasProduct[] } | undefined;

  constructor(
    private readonly router: Pick<Router, 'providerOf'>,
    private readonly transports: Transports,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /** @throws VasOrderError `unavailable` where the operator does not answer */
  async all(): Promise<readonly VasProduct[]> {
    const now = this.clock.monotonic();
    if (this.#known && now - this.#known.at < LASTS) return this.#known.all;
    const provider = this.router.providerOf({ channel: 'vas' });
    const transport = this.transports.get(provider) as MessageTransport;
    try {
      const all = (await transport.products?.(AbortSignal.timeout(TIMEOUT))) ?? [];
      this.#known = { at: now, all };
    } catch (error) {
      this.#logger.warn(`${provider}: products not read: ${(error as Error).name}`);
      if (!this.#known) throw new VasOrderError('unavailable', undefined, { cause: error });
    }
    return this.#known.all;
  }

  /**
   * The product of an order, and its amount.
   * @throws MessageValidationError naming each field that does not fit the product
   */
  async of({ product: id, amount, currency, network }: VasOrder): Promise<OrderedProduct> {
    const product = (await this.all()).find((one) => one.id === id);
    if (!product)
      throw new MessageValidationError([
        { path: 'product', message: 'is no product of the operator; see the list of products' },
      ]);
    return validated((errors) => {
      const refuse = (path: string, message: string) => errors.push({ path, message });
      if (currency !== undefined && currency !== product.currency)
        refuse('currency', `must be ${product.currency}, the currency of the product`);
      if (network !== undefined && network !== product.network)
        refuse('network', `must be ${product.network}, the network of the product`);
      if (product.amount !== null) {
        const isOther = unitsOf(amount) !== unitsOf(product.amount);
        if (amount !== undefined && (product.type === 'data' || isOther))
          refuse('amount', 'must be left out: the product has an amount');
        return { product, amount: unitsOf(product.amount) ?? 0n };
      }
      const units = unitsOf(amount) ?? 0n;
      const { min, max } = product;
      if (amount === undefined) refuse('amount', 'is missing: the product has none of its own');
      else if (units < (unitsOf(min) ?? 0n) || (max !== null && units > (unitsOf(max) ?? 0n)))
        refuse('amount', `must be ${min ?? '0'} to ${max ?? 'any amount'} ${product.currency}`);
      else if (!fitsCurrency(units, product.currency))
        refuse(
          'amount',
          `has more than the ${digitsOf(product.currency)} decimals of ${product.currency}`,
        );
      return { product, amount: units };
    });
  }
}
