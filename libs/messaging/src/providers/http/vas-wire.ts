import type { ChannelRegistry } from '../../message/channel-registry.js';
import { PermanentFailure, UncertainFailure } from '../../message/errors.js';
import type { DeliveryReport, ReportDetails } from '../../message/events.js';
import { unitsOf } from '../../message/money.js';
import { own, word } from '../../message/report-fields.js';
import { isVasOrder, type VasProduct } from '../../message/vas.js';
import type {
  SentSubmission,
  Submission,
  SubmissionAccepted,
} from '../../ports/message-transport.js';
import type { HttpSettings } from './http.options.js';
import { orderDetailsOf } from './interface-callbacks.js';
import { fetchEach, type FetchedReports, type Get, reportWish, type Wire } from './wires.js';

const VAS = '/ng/v1/vas';

/** Statuses of the service's own that mean that the order never took effect. */
const NEVER: ReadonlySet<string> = new Set(['expired', 'cancelled']);

/**
 * Orders on the interface. The service knows an order by the key, its `client_reference`, for ever:
 * a repetition answers the first order, and questions need no other id.
 */
export class VasWire implements Wire {
  readonly credential = 'apiToken';
  readonly path = `${VAS}/orders`;
  readonly idField = 'client_reference';
  readonly keyed = false;

  constructor(
    private readonly channels: ChannelRegistry,
    private readonly settings: Pick<HttpSettings, 'deliveryReport'>,
  ) {}

  bodyOf({ recipients, content, deliveryReport }: Submission): Record<string, unknown> {
    if (!isVasOrder(content))
      throw new PermanentFailure('unsupported_content', 'The content is no order');
    const { kind, product, amount, currency, network, key } = content;
    return {
      to: recipients[0],
      product,
      ...(kind === 'vas.airtime' && { amount }),
      currency,
      ...(network !== null && { network }),
      client_reference: key,
      delivery_report: reportWish(this.settings.deliveryReport ?? deliveryReport),
      // The library has looked for duplicates of the tenant; another tenant's are none.
      allow_duplicate: true,
    };
  }

  /** @throws UncertainFailure where the answer is about another order */
  detailsOf(id: string, answer: unknown, { content }: Submission): Partial<SubmissionAccepted> {
    if (!isVasOrder(content) || id !== content.key)
      throw new UncertainFailure('invalid_answer', 'The service answered with another order');
    const details = detailsOf(answer);
    return details ? { details } : {};
  }

  fetch(submissions: readonly SentSubmission[], get: Get): Promise<FetchedReports> {
    const { channels } = this;
    return fetchEach(
      submissions.values(),
      async function* ({ submissionId, reference, recipients }) {
        if (reference === null) return;
        const path = `${VAS}/orders?client_reference=${encodeURIComponent(reference)}`;
        const found = own(await get(path), 'data');
        const [order] = Array.isArray(found) ? (found as unknown[]) : [];
        if (own(order, 'client_reference') !== reference) return;
        const rawStatus = word(own(order, 'status'));
        const status = rawStatus !== null && NEVER.has(rawStatus) ? 'failed' : rawStatus;
        if (rawStatus === null || !channels.isReported(status)) return;
        const details = detailsOf(order);
        yield {
          submissionId,
          reference,
          messageId: null,
          recipient: recipients[0] ?? null,
          status,
          rawStatus,
          errorCode: word(own(order, 'error_code')),
          providerTime: null,
          ...(details && { details }),
        } satisfies DeliveryReport;
      },
    );
  }

  async products(get: Get): Promise<readonly VasProduct[]> {
    const listed = own(await get(`${VAS}/products`), 'data');
    if (!Array.isArray(listed))
      throw new UncertainFailure('invalid_answer', 'The service answered without products');
    return (listed as unknown[]).flatMap((one) => productOf(one) ?? []);
  }
}

/** Price of the service, and its own id where the operator has none. */
function detailsOf(order: unknown): ReportDetails | undefined {
  const details = orderDetailsOf(order);
  const id = word(own(order, 'id'));
  return id === null ? details : { operator_reference: id, ...details };
}

/** `undefined`: a product without a usable field. */
function productOf(given: unknown): VasProduct | undefined {
  const text = (name: string) => word(own(given, name));
  const amount = (name: string) => {
    const value = own(given, name);
    return typeof value === 'string' && unitsOf(value) !== undefined ? value : null;
  };
  const [id, type, network, name] = [text('id'), text('type'), text('network'), text('name')];
  const currency = text('currency');
  if (id === null || network === null || name === null || currency === null) return undefined;
  if (type !== 'airtime' && type !== 'data') return undefined;
  const [price, min, max] = [amount('amount'), amount('min'), amount('max')];
  if (price === null && min === null) return undefined;
  return { id, type, network, name, amount: price, min, max, currency, validity: text('validity') };
}
