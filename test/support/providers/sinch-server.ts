import { type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface SinchBatch {
  readonly id: string;
  readonly request: {
    readonly to: readonly string[];
    readonly body: string;
    readonly client_reference?: string;
    readonly callback_url?: string;
    readonly [field: string]: unknown;
  };
  status: string;
}

const FINAL = /^(Aborted|Rejected|Delivered|Failed|Expired|Unknown)$/;

/** `/xms/v1` of Sinch. @see https://developers.sinch.com/docs/sms/api-reference */
export class SinchServer extends ProviderServer<SinchBatch> {
  readonly servicePlanId = 'jd63jf88477ll123ab4567cd89012ef3';
  readonly apiToken = 'token-of-the-service-plan';

  get options() {
    const { servicePlanId, apiToken, url: baseUrl } = this;
    return { servicePlanId, apiToken, baseUrl };
  }

  protected handle({
    method,
    url,
    headers,
    body,
  }: Parameters<ProviderServer<SinchBatch>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== `Bearer ${this.apiToken}`) return { status: 401, body: '' };
    const { pathname, searchParams } = new URL(url, 'http://x');
    const path = `/xms/v1/${this.servicePlanId}`;
    if (method === 'GET' && pathname === `${path}/delivery_reports`)
      return this.#listOf(searchParams.get('client_reference'));
    if (method === 'GET' && pathname === `${path}/batches`)
      return { status: 200, body: { count: 0, page: 0, page_size: 1, batches: [] } };
    if (method !== 'POST' || pathname !== `${path}/batches`) return { status: 404, body: '' };
    const request = JSON.parse(body) as SinchBatch['request'];
    const { delivery_report, callback_url, to } = request;
    if (delivery_report !== undefined && callback_url === undefined)
      return refusal(403, 'missing_callback_url');
    if (!to.every((one) => /^\+?\d{7,15}$/.test(one) && !one.startsWith('99')))
      return refusal(400, 'syntax_invalid_parameter_format');
    const id = `01FC66621XXXXX${String(this.taken.length + 1).padStart(12, '0')}`;
    this.taken.push({ id, request, status: 'Delivered' });
    const at = '2026-01-01T00:00:00.000Z';
    const batch = { ...request, id, created_at: at, modified_at: at, canceled: false };
    return { status: 201, body: batch };
  }

  /** Finished reports only. */
  #listOf(reference: string | null): ProviderAnswer {
    const delivery_reports = this.taken
      .filter(({ request }) => request.client_reference === reference)
      .filter(({ status }) => FINAL.test(status))
      .map(reportOf);
    const count = delivery_reports.length;
    return { status: 200, body: { count, page: 0, page_size: count, delivery_reports } };
  }
}

/** The report of a batch with one recipient. */
export function reportOf({ id, request, status }: SinchBatch) {
  return {
    type: 'recipient_delivery_report_sms',
    batch_id: id,
    recipient: request.to[0],
    code: status === 'Delivered' ? 0 : 402,
    status,
    at: '2026-01-01T00:00:02.000Z',
    operator_status_at: '2026-01-01T00:00:01.000Z',
    client_reference: request.client_reference,
  };
}

function refusal(status: number, code: string): ProviderAnswer {
  return { status, body: { code, text: 'What is wrong' } };
}
