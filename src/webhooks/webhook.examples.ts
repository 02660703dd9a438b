const WEBHOOK = {
  webhook_id: '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd',
  url: 'https://example.com/sms-reports',
  status: 'enabled',
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  created_at: '2026-11-20T13:20:27.921Z',
};

/** Examples of the webhooks surface, held to their schemas by a spec. */
export const WEBHOOK_EXAMPLES = {
  create: { endpoint: { url: WEBHOOK.url } },
  update: { 'enable again': { enabled: true }, move: { url: 'https://example.com/reports' } },
  redeliver: { 'whatever was never delivered': {}, since: { since: '2026-11-20T00:00:00Z' } },
  redelivered: { redelivered: 12 },
  webhook: WEBHOOK,
  webhooks: { data: [WEBHOOK], next_cursor: null },
  withSecret: {
    ...WEBHOOK,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    previous_secret_until: null,
  },
  attempts: {
    data: [
      {
        delivery_id: '01a1f91d-9555-7000-8c4f-a4ea0dc430dd',
        message_id: '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0',
        attempt: 1,
        attempted_at: '2026-11-20T13:20:28.011Z',
        duration_ms: 35,
        status_code: 200,
        error: null,
        response: 'ok',
      },
    ],
    next_cursor: null,
  },
};
