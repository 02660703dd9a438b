import { randomUUID } from 'node:crypto';

/** Status and body of an answer. */
export interface WhatsAppAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface AcceptedMessage {
  readonly body: string;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** The WhatsApp part of {@link InterfaceServer}: accepts every message once per key, and lists each as read. */
export class InterfaceWhatsApp {
  /** Accepted messages by idempotency key. */
  readonly accepted = new Map<string, AcceptedMessage>();

  send(key: string, body: string): WhatsAppAnswer {
    const known = this.accepted.get(key);
    if (known)
      return known.body === body
        ? { status: 200, body: known.answer }
        : refusal(422, 'validation_error', 'idempotency_key_reused');
    const { to, message_type: type } = JSON.parse(body) as Record<string, unknown>;
    if (typeof to !== 'string') return refusal(422, 'validation_error', 'invalid_field');
    if (to.endsWith('9903')) return refusal(422, 'policy_error', 'opt_in_required');
    const answer = {
      message_id: `wamid.${randomUUID()}`,
      status: 'sent',
      cost: 0.0125,
      currency: 'USD',
      category: type === 'text' ? 'service' : 'utility',
      sender: '2348000000001',
      to,
    };
    this.accepted.set(key, { body, answer });
    return { status: 200, body: answer };
  }

  find(id: string): WhatsAppAnswer {
    for (const { answer } of this.accepted.values())
      if (answer['message_id'] === id) return { status: 200, body: { ...answer, status: 'read' } };
    return refusal(404, 'invalid_request_error', 'not_found');
  }
}

function refusal(status: number, type: string, code: string): WhatsAppAnswer {
  return { status, body: { error: { type, code, message: 'Refused' } } };
}
