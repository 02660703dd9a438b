import { Inject, Injectable } from '@nestjs/common';
import { addressOf, ADDRESS_RULES } from '../../message/address.js';
import { addressIdentity, formsOf } from '../../message/phone-identity.js';
import { type FieldError, validated } from '../../message/errors.js';
import type { VasOrderOpen } from '../../message/events.js';
import { amountOf, unitsOf } from '../../message/money.js';
import type { VasProduct } from '../../message/vas.js';
import type { ListOptions, Page, TenantOption } from '../../message/views.js';
import { MESSAGE_TRANSPORTS, type Transports } from '../../ports/message-transport.js';
import { Router } from '../../routing/router.js';
import type { Sql } from '../../store/database/sql.js';
import { LAST_ID } from '../../store/reads/newest-batches.js';
import { isBatchId } from '../../message/ids.js';
import { decodeCursor, encodeCursor } from '../../store/rows/cursor.js';
import { ChannelContext, pageOf } from '../channel.service.js';
import { checkLabels } from '../labels.js';
import { type KnownFields, LABEL_FIELDS, refuseUnknownFields } from '../known-fields.js';
import { checkWords, given, type SendOptions } from '../send.js';
import { checkedOrder } from './vas.channel.js';
import {
  operatorKeyOf,
  type SettleOptions,
  type VasAllowance,
  type VasOrder,
  VasOrderError,
  VasOrderNotFoundError,
  type VasOrderView,
  type VasReceipt,
} from './vas-order.js';
import {
  type Accepted,
  type AskedOrder,
  replayOf,
  TELL_AFTER,
  VasAcceptance,
} from './vas-acceptance.js';
import { VasLedger } from './vas-ledger.js';
import { VasOrders } from './vas-orders.js';
import { type OrderedProduct, VasProducts } from './vas-products.js';

const TELL_AT_ONCE = 500;

const CURRENCY = /^[A-Z]{3}$/;
const REFERENCE = /^[\x21-\x7e]{1,255}$/;
const WORD = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** An order with checked fields; those of its product are not checked yet. */
interface CheckedOrder extends VasOrder {
  readonly tenant: string;
  readonly spender: string | undefined;
}

const FIELDS: KnownFields<VasOrder> = {
  to: true,
  product: true,
  amount: true,
  currency: true,
  clientReference: true,
  network: true,
  deliveryReport: true,
  allowDuplicate: true,
  ...LABEL_FIELDS,
};

/**
 * Orders airtime and data, each once: a client reference stands for one order for ever. A tenant
 * needs an allowance first.
 *
 * ```
 * queued → sending → unknown → processing → failed → rejected → delivered → reversed
 * ```
 *
 * An order whose answer was lost is `unknown` and never sent again: the operator is asked by the
 * order's key, first after 5 s, in the end once a day. After a day `messaging.vas.open` tells the
 * app, and a person may settle it.
 * @example
 * await vas.allow({ currency: 'NGN', daily: '50000', perNumber: '5000' });
 * const { id } = await vas.order({ to: '2348012345678', product: 'airtime-ng', amount: '100', clientReference: 'shop-17' });
 * const { status, deliveredAmount } = await vas.find(id);
 */
@Injectable()
export class VasService {
  readonly #orders: VasOrders;
  readonly #ledger: VasLedger;
  readonly #acceptance: VasAcceptance;
  readonly #products: VasProducts;

  /** @internal */
  constructor(
    @Inject(ChannelContext) private readonly context: ChannelContext,
    @Inject(Router) router: Router,
    @Inject(MESSAGE_TRANSPORTS) transports: Transports,
  ) {
    const { store, enqueuer, clock } = context;
    this.#orders = new VasOrders(store.database, context.channels);
    this.#ledger = new VasLedger(store.database, context.channels);
    this.#products = new VasProducts(router, transports, clock);
    this.#acceptance = new VasAcceptance(this.#ledger, enqueuer, () => clock.now());
  }

  /**
   * The products of the operator, remembered for ten minutes.
   * @throws NoRouteError where no provider carries VAS
   * @throws VasOrderError `unavailable` where the operator does not answer
   */
  async products(): Promise<readonly VasProduct[]> {
    return this.#products.all();
  }

  /** Lets the tenant order, within these caps; replaces its allowance. */
  async allow(
    allowance: VasAllowance,
    { tenant = '', manager }: TenantOption & Pick<SendOptions, 'manager'> = {},
  ): Promise<void> {
    const { currency, daily, perNumber } = allowance;
    const caps = validated((errors) => {
      checkWords({ tenant }, errors);
      if (!CURRENCY.test(currency))
        errors.push({ path: 'currency', message: 'must be three capital letters, such as NGN' });
      return {
        daily: checkedAmount('daily', daily, errors),
        perNumber: checkedAmount('perNumber', perNumber, errors),
      };
    });
    const { store, clock } = this.context;
    const put = (tx: Sql) => this.#ledger.allow(tx, tenant, { currency, ...caps }, clock.now());
    const tx = store.database.callersTransaction(manager);
    await (tx ? put(tx) : store.database.transaction(put));
  }

  /** Takes the allowance back; orders under way go on. False: there was none. */
  async forbid({
    tenant = '',
    manager,
  }: TenantOption & Pick<SendOptions, 'manager'> = {}): Promise<boolean> {
    const { database } = this.context.store;
    const forbid = (tx: Sql) => this.#ledger.forbid(tx, tenant);
    const tx = database.callersTransaction(manager);
    return tx ? forbid(tx) : database.transaction(forbid);
  }

  /** `undefined`: the tenant may not order. */
  async allowance({ tenant = '' }: TenantOption = {}): Promise<VasAllowance | undefined> {
    const found = await this.#ledger.allowance(tenant);
    if (!found) return undefined;
    const { currency, daily, perNumber } = found;
    return { currency, daily: amountOf(daily), perNumber: amountOf(perNumber) };
  }

  /**
   * Accepts an order; resolves once it is durable. Where it throws, nothing was stored.
   * @throws VasReferenceReusedError where the reference belongs to an order of other content
   * @throws MessageValidationError naming each wrong field
   * @throws VasOrderError `vas_not_allowed`, `duplicate_order`, `cap_exceeded` or `unavailable`
   * @throws PolicyError where policy denies the recipient
   */
  async order(
    order: VasOrder,
    { tenant = '', spender }: TenantOption & Pick<SendOptions, 'spender'> = {},
  ): Promise<VasReceipt> {
    this.context.store.database.refuseWithin();
    const checked = this.#checked(order, tenant, spender);
    const fingerprints = this.#fingerprintsOf(checked);
    const wanted = await this.#products.of(checked).catch((error: unknown) => error as Error);
    if (wanted instanceof Error) {
      // An accepted order stays valid after its product has changed.
      const first = await this.#ledger.find(tenant, checked.clientReference);
      if (!first) throw wanted;
      return this.#receiptOf(checked, replayOf(first, fingerprints));
    }
    const asked = this.#asked(checked, wanted, fingerprints);
    const { enqueuer } = this.context;
    const denial = await enqueuer.denialOf(asked.batch);
    const accepted = await enqueuer.accepting(asked.batch, (batch) =>
      this.#acceptance.accept({ ...asked, batch, denial }),
    );
    return this.#receiptOf(checked, accepted, asked);
  }

  /** @throws VasOrderNotFoundError */
  async find(id: string, { tenant = '' }: TenantOption = {}): Promise<VasOrderView> {
    const found = isBatchId(id) ? await this.#orders.one(tenant, id) : undefined;
    if (!found) throw new VasOrderNotFoundError();
    return found;
  }

  /** The order with this reference, if there is one. */
  findByReference(
    clientReference: string,
    { tenant = '' }: TenantOption = {},
  ): Promise<VasOrderView | undefined> {
    return this.#orders.byReference(tenant, clientReference);
  }

  /** Orders of any tenants by their ids, for listeners in the transaction of a change. */
  async findAll(
    ids: readonly string[],
    { manager }: Pick<SendOptions, 'manager'> = {},
  ): Promise<ReadonlyMap<string, VasOrderView>> {
    const { database } = this.context.store;
    const sql = manager ? database.join(manager) : database;
    const found = ids.length === 0 ? [] : await this.#orders.byIds(sql, [...new Set(ids)]);
    return new Map(found.map((order) => [order.id, order]));
  }

  /** Newest first. */
  async list(options: ListOptions = {}): Promise<Page<VasOrderView>> {
    const { cursor, limit } = pageOf(options);
    const before = cursor === undefined ? LAST_ID : decodeCursor(cursor, 'uuid');
    const found = await this.#orders.list(options.tenant ?? '', before, limit + 1);
    const data = found.slice(0, limit);
    const last = data.at(-1);
    const nextCursor = found.length > limit && last ? encodeCursor(last.id) : null;
    return { data, nextCursor };
  }

  /** Orders of every tenant that have had no outcome for a day, newest first, at most 1,000. */
  open({ limit = 100 }: Pick<ListOptions, 'limit'> = {}): Promise<readonly VasOrderView[]> {
    return this.#orders.open(this.context.clock.now() - TELL_AFTER, Math.min(limit, 1_000));
  }

  /** How many {@link open} orders there are. */
  countOpen(): Promise<number> {
    return this.#orders.countOpen(this.context.clock.now() - TELL_AFTER);
  }

  /**
   * Records a person's decision about an order that is `unknown` or `processing`. A report of the
   * operator may still raise its status. Repeatable.
   * @throws VasOrderNotFoundError
   * @throws VasOrderError `already_settled` where it has an outcome, or has not been sent
   */
  async settle(
    id: string,
    { as, by, note, also, tenant = '' }: SettleOptions,
  ): Promise<VasOrderView> {
    validated((errors) => {
      if (as !== 'delivered' && as !== 'failed')
        errors.push({ path: 'as', message: "must be 'delivered' or 'failed'" });
      if (!WORD.test(by))
        errors.push({ path: 'by', message: 'must name the person, in 1 to 255 characters' });
      if (note !== undefined && (typeof note !== 'string' || note.length > 1_000))
        errors.push({ path: 'note', message: 'must be a text of at most 1000 characters' });
    });
    const { store, clock } = this.context;
    if (!isBatchId(id)) throw new VasOrderNotFoundError();
    const at = new Date(clock.now());
    await store.database.transaction(async (tx) => {
      const status = await this.#orders.lockStatus(tx, tenant, id);
      if (status === undefined) throw new VasOrderNotFoundError();
      if (status !== 'unknown' && status !== 'processing')
        throw new VasOrderError(
          'already_settled',
          `The order is ${status}; only an order without an outcome is settled`,
        );
      await this.#orders.settle(tx, id, { as, by, at, note: note ?? null });
      await also?.(tx.manager);
    });
    const scope = { tenant, channel: 'vas' };
    const { provider, ...place } = await store.reads.submissionOf(`${id}-0`, scope);
    const report = {
      ...place,
      reference: null,
      messageId: null,
      status: as,
      rawStatus: 'settled',
      errorCode: as === 'failed' ? 'settled_by_operator' : null,
      providerTime: at,
    };
    await store.reports.record([report], { provider });
    return this.find(id, { tenant });
  }

  /** @internal Orders that have had no outcome for a day; each is taken once, by one process. */
  async takeOpen(): Promise<readonly VasOrderOpen[]> {
    const { store, clock } = this.context;
    const open = await store.database.transaction((tx) =>
      this.#orders.takeUntold(tx, clock.now(), TELL_AT_ONCE),
    );
    return open.map(({ id, tenant, reference, createdAt }) => {
      return { tenant, orderId: id, clientReference: reference, since: createdAt };
    });
  }

  async #receiptOf(
    { tenant, to, clientReference }: CheckedOrder,
    accepted: Accepted,
    asked?: Pick<AskedOrder, 'row'>,
  ): Promise<VasReceipt> {
    const { id, createdAt, replayed } = accepted;
    if (replayed || !asked) return { ...accepted, order: await this.find(id, { tenant }) };
    const { product, type, amount, currency, network } = asked.row;
    const order: VasOrderView = {
      id,
      tenant,
      clientReference,
      to,
      type,
      product,
      amount: amountOf(amount),
      currency,
      network,
      status: 'queued',
      cost: null,
      deliveredAmount: null,
      operatorReference: null,
      errorCode: null,
      createdAt,
      settlement: null,
    };
    return { ...accepted, order };
  }

  #asked(
    order: CheckedOrder,
    { product, amount }: OrderedProduct,
    fingerprints: readonly string[],
  ): Omit<AskedOrder, 'denial'> {
    const { store, enqueuer, channels } = this.context;
    const { to, tenant, clientReference, deliveryReport, allowDuplicate = false } = order;
    const { tags, metadata, spender } = order;
    const network = order.network ?? null;
    const { type, currency } = product;
    const content = checkedOrder({
      kind: `vas.${type}`,
      product: product.id,
      amount: amountOf(amount),
      currency,
      network,
      key: operatorKeyOf(tenant, clientReference),
    });
    // Orders of the same person under another form of the number count, too.
    const forms = formsOf(addressIdentity(to));
    const [identity = to] = forms;
    const digests = forms.flatMap((form) => store.digests.ofAddress(tenant, form));
    const numbers = digests.length > 0 ? digests : forms;
    const [number = identity] = numbers;
    const [fingerprint = ''] = fingerprints;
    const reference = clientReference;
    return {
      batch: enqueuer.prepare(
        channels.get('vas'),
        { to, content, deliveryReport, tags, metadata },
        { tenant, spender },
      ),
      row: {
        tenant,
        reference,
        fingerprint,
        number,
        product: product.id,
        type,
        amount,
        currency,
        network,
      },
      numbers,
      fingerprints,
      allowDuplicate,
    };
  }

  #checked(order: VasOrder, tenant: string, spender: string | undefined): CheckedOrder {
    refuseUnknownFields(given(order, 'order'), FIELDS);
    return validated((errors) => {
      const refuse = (path: string, message: string) => errors.push({ path, message });
      const number = addressOf('phone', order.to);
      if (!number) refuse('to', ADDRESS_RULES.phone);
      if (typeof order.product !== 'string' || !WORD.test(order.product))
        refuse('product', 'must be the id of a product');
      if (typeof order.clientReference !== 'string' || !REFERENCE.test(order.clientReference))
        refuse('clientReference', 'must be 1 to 255 visible ASCII characters');
      const { amount, currency, network, deliveryReport } = order;
      const units = amount === undefined ? undefined : checkedAmount('amount', amount, errors);
      if (currency !== undefined && !CURRENCY.test(currency))
        refuse('currency', 'must be three capital letters, such as NGN');
      if (network !== undefined && (typeof network !== 'string' || !WORD.test(network)))
        refuse('network', 'must be 1 to 255 characters');
      checkWords({ tenant, deliveryReport, spender }, errors);
      checkLabels(order, errors);
      return {
        ...order,
        tenant,
        spender,
        to: number?.value ?? '',
        ...(units !== undefined && { amount: amountOf(units) }),
      };
    });
  }

  /** By the present key of the digests first. */
  #fingerprintsOf({ to, product, amount, currency, network }: CheckedOrder): string[] {
    const asked = [to, product, amount ?? null, currency ?? null, network ?? null];
    return this.context.store.digests.fingerprints(asked);
  }
}

function checkedAmount(path: string, amount: unknown, errors: FieldError[]): bigint {
  const units = unitsOf(amount);
  if (units !== undefined && units > 0n) return units;
  errors.push({
    path,
    message: "must be a decimal number above 0 as a text, such as '100' or '99.50'",
  });
  return 0n;
}
