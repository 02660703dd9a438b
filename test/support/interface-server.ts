import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Handler, RecordingServer } from './recording-server.js';

export interface AcceptedRequest {
  readonly key: string;
  readonly body: string;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** A small server of the interface: credential, sender, `Idempotency-Key`, reports by polling. */
export class InterfaceServer extends RecordingServer {
  readonly apiToken = 'tok_test';
  readonly apiKey = 'svk_test';
  readonly sender = 'ACME';
  readonly accepted = new Map<string, AcceptedRequest>();
  readonly acceptedWhatsApp = new Map<string, AcceptedRequest>();
  readonly acceptedEmails = new Map<string, AcceptedRequest>();
  readonly acceptedCalls = new Map<string, AcceptedRequest>();
  readonly acceptedOrders = new Map<string, AcceptedRequest>();
  pageSize = 1000;
  /** False: no submission has a report yet. */
  hasReports = true;

  static async start(): Promise<InterfaceServer> {
    const server = new InterfaceServer((...exchange) => server.#route(...exchange));
    await server.listen();
    return server;
  }

  #route(...[{ method, url, headers, body }, response]: Parameters<Handler>): void {
    const { pathname, searchParams } = new URL(url, this.url);
    const takesKey = /^\/(?:whatsapp|email)\/ng\/v1\//.test(pathname);
    if (headers.authorization !== `Bearer ${takesKey ? this.apiKey : this.apiToken}`)
      return refuse(response, 401, 'unauthorized');
    const key = String(headers['idempotency-key'] ?? randomUUID());
    switch (`${method} ${pathname}`) {
      case 'POST /ng/v1/sendsms':
        return this.#accept(this.accepted, key, body, response, () => this.#sms(body));
      case 'POST /whatsapp/ng/v1/sendwhatsapp':
        return this.#accept(this.acceptedWhatsApp, key, body, response, () => whatsApp(body));
      case 'POST /email/ng/v1/messages':
        return this.#accept(this.acceptedEmails, key, body, response, () => email(body));
      case 'POST /ng/v1/voice/calls':
        return this.#accept(this.acceptedCalls, key, body, response, () => call(body));
      case 'GET /ng/v1/voice/calls':
        return reply(response, 200, {
          data: callsOf(this.acceptedCalls, searchParams.get('reference_id')),
          next_cursor: null,
        });
      case 'POST /ng/v1/vas/orders': {
        const { client_reference: reference } = JSON.parse(body) as { client_reference: string };
        return this.#accept(this.acceptedOrders, reference, body, response, () => order(body));
      }
      case 'GET /ng/v1/vas/orders': {
        const found = this.acceptedOrders.get(searchParams.get('client_reference') ?? '');
        const data = found ? [{ ...found.answer, status: 'delivered', cost: 97 }] : [];
        return reply(response, 200, { data, next_cursor: null });
      }
      case 'GET /ng/v1/deliveryreports':
        return this.#reports(searchParams, response);
    }
    const [, emailId] = /^\/email\/ng\/v1\/messages\/([^/]+)\/events$/.exec(pathname) ?? [];
    const sent = [...this.acceptedEmails.values()].find(
      ({ answer }) => answer['reference_id'] === emailId,
    );
    if (sent) return reply(response, 200, { data: eventsOf(sent), next_cursor: null });
    const [, id] = /^\/whatsapp\/ng\/v1\/messages\/([^/]+)$/.exec(pathname) ?? [];
    const message = [...this.acceptedWhatsApp.values()].find(
      ({ answer }) => answer['message_id'] === decodeURIComponent(id ?? ''),
    );
    if (message) reply(response, 200, { ...message.answer, status: 'read' });
    else refuse(response, 404, 'not_found');
  }

  #accept(
    accepted: Map<string, AcceptedRequest>,
    key: string,
    body: string,
    response: ServerResponse,
    answerTo: () => Readonly<Record<string, unknown>> | string,
  ): void {
    const known = accepted.get(key);
    if (known && known.body !== body) return refuse(response, 422, 'idempotency_key_reused');
    const answer = known?.answer ?? answerTo();
    if (typeof answer === 'string') return refuse(response, 422, answer);
    accepted.set(key, { key, body, answer });
    reply(response, 200, answer);
  }

  #sms(body: string): Readonly<Record<string, unknown>> | string {
    const { from, to } = JSON.parse(body) as { from?: unknown; to?: unknown };
    if (!Array.isArray(to) || to.length === 0) return 'invalid_field';
    if (from !== this.sender) return 'sender_not_registered';
    return {
      status_code: 200,
      message: 'Request is being processed',
      reference_id: randomUUID(),
      recipients_processed: to.length,
    };
  }

  #reports(query: URLSearchParams, response: ServerResponse): void {
    const references = query.getAll('reference_id');
    const keys = query.getAll('idempotency_key');
    const items = [...this.accepted.values()].flatMap(({ key, body, answer }) => {
      const reference = String(answer['reference_id']);
      if (!this.hasReports) return [];
      if (!references.includes(reference) && !keys.includes(key)) return [];
      return (JSON.parse(body) as { to: readonly unknown[] }).to.map((to, position) => ({
        reference_id: reference,
        message_id: `${reference}-${position}`,
        to: String(to),
        from: this.sender,
        status: 'delivered',
        error_code: null,
        smsc_timestamp: '2026-01-02T03:04:05.678Z',
        sequence: 2,
        received_at: '2026-01-02T03:04:06.000Z',
      }));
    });
    const start = Number(query.get('cursor') ?? 0);
    const end = start + this.pageSize;
    reply(response, 200, {
      data: items.slice(start, end),
      next_cursor: end < items.length ? String(end) : null,
    });
  }
}

function whatsApp(body: string): Readonly<Record<string, unknown>> | string {
  const { to, message_type: type } = JSON.parse(body) as Record<string, unknown>;
  if (typeof to !== 'string') return 'invalid_field';
  if (to.endsWith('9903')) return 'opt_in_required';
  return {
    message_id: `wamid.${randomUUID()}`,
    status: 'sent',
    cost: 0.0125,
    currency: 'USD',
    category: type === 'text' ? 'service' : 'utility',
    sender: '2348000000001',
    to,
  };
}

function email(body: string): Readonly<Record<string, unknown>> | string {
  const { from } = JSON.parse(body) as { from: { email: string } };
  if (!/@(?:example\.com|demo\.test)$/.test(from.email)) return 'domain_not_verified';
  const id = randomUUID();
  return {
    status_code: 200,
    message: 'Your request is being processed',
    reference_id: id,
    messages: addressesOf(body).map((to, position) => ({
      message_id: `${id}-${position}`,
      to,
      status: 'queued',
    })),
  };
}

function call(body: string): Readonly<Record<string, unknown>> | string {
  const { from, to } = JSON.parse(body) as { from: string; to: readonly string[] };
  if (from !== '2348000000001') return 'caller_not_registered';
  return {
    status_code: 200,
    message: 'Your request is being processed',
    reference_id: randomUUID(),
    recipients_processed: to.length,
  };
}

/** As each call that was answered for a minute and a second. */
function callsOf(calls: ReadonlyMap<string, AcceptedRequest>, id: string | null): object[] {
  const sent = [...calls.values()].find(({ answer }) => answer['reference_id'] === id);
  if (!sent) return [];
  return (JSON.parse(sent.body) as { to: readonly string[] }).to.map((to, position) => ({
    message_id: `${id}-${position}`,
    reference_id: id,
    to,
    status: 'completed',
    answered_at: '2026-01-02T03:04:05.000Z',
    ended_at: '2026-01-02T03:05:06.000Z',
    duration: 61,
    billed_seconds: 120,
    cost: 0.06,
    currency: 'USD',
    error_code: null,
  }));
}

function order(body: string): Readonly<Record<string, unknown>> | string {
  const { to, product, client_reference } = JSON.parse(body) as Record<string, string>;
  if (to?.endsWith('9903')) return 'invalid_field';
  return { id: randomUUID(), client_reference, to, product, status: 'processing', cost: null };
}

function addressesOf(body: string): string[] {
  const lists = JSON.parse(body) as Record<string, (string | { email: string })[] | undefined>;
  return ['to', 'cc', 'bcc', 'recipients'].flatMap((name) =>
    (lists[name] ?? []).map((one) => (typeof one === 'string' ? one : one.email)),
  );
}

/** As an address that starts with `gone` bounces; the others are delivered. */
function eventsOf({ body, answer }: AcceptedRequest): readonly object[] {
  return addressesOf(body).map((to, position) => {
    const isGone = to.startsWith('gone');
    return {
      message_id: `${String(answer['reference_id'])}-${position}`,
      to,
      event: isGone ? 'bounced' : 'delivered',
      error_code: isGone ? '5.1.1' : null,
      bounce: isGone ? { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' } : null,
      smsc_timestamp: '2026-01-02T03:04:05.678Z',
      sequence: 2,
      received_at: '2026-01-02T03:04:06.000Z',
    };
  });
}

function refuse(response: ServerResponse, status: number, code: string): void {
  reply(response, status, { error: { type: 'error', code, message: 'Refused' } });
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
