const REFERENCE_ID = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0';
const MESSAGE_ID = 'wamid.9Yb3sT0k2mQ7xV5cN1pL8aZ4';
const SENDER = '2340012345678';
const TO = '2348012345678';

const CONTACT = {
  id: '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd',
  phone: TO,
  bsuid: null,
  name: 'Ada',
  opt_in: { status: 'opted_in', at: '2026-11-20T13:20:27.921Z', source: 'web form' },
  window_expires_at: null,
  groups: [],
};

const CHARGED = {
  message_id: MESSAGE_ID,
  cost: 0.01,
  currency: 'USD',
  category: 'utility',
  sender: SENDER,
};

/** Examples of the WhatsApp surface, held to their schemas by a spec. */
export const WHATSAPP_EXAMPLES = {
  send: {
    'a template': {
      to: TO,
      message_type: 'template',
      template_name: 'order_update',
      language: 'en',
      params: ['Ada', '1001'],
    },
    'a text, inside the window': { to: TO, message_type: 'text', text: 'It is on its way.' },
  },
  sendAnswer: { ...CHARGED, status: 'sent' },
  message: {
    ...CHARGED,
    reference_id: REFERENCE_ID,
    to: TO,
    message_type: 'template',
    template_name: 'order_update',
    language: 'en',
    params: ['Ada', '1001'],
    text: null,
    status: 'read',
    error_code: null,
    created_at: '2026-11-20T13:20:27.921Z',
    smsc_timestamp: '2026-11-20T13:20:28.001Z',
  },
  templates: {
    data: [
      {
        name: 'order_update',
        language: 'en',
        category: 'utility',
        status: 'approved',
        params_count: 2,
      },
    ],
    next_cursor: null,
  },
  upsert: {
    'opted in': {
      phone: TO,
      name: 'Ada',
      opt_in: { status: 'opted_in', source: 'web form', at: '2026-11-20T13:20:27.921Z' },
    },
    'into a group': { phone: TO, groups: ['grp_4yGq0cXo2vGdXk1w8bTzRs'] },
  },
  consent: { 'with its proof': { source: 'web form', evidence: 'Yes, write to me' } },
  contact: CONTACT,
  contacts: { data: [CONTACT], next_cursor: null },
  erasure: { messages: 3, remaining: 0 },
  receivedEvent: {
    type: 'whatsapp.message_received',
    timestamp: '2026-11-20T13:20:29.011Z',
    data: {
      message_id: 'wamid.1Zt7Qv3n8LbX0sK5mW2cR9yD',
      from: TO,
      bsuid: null,
      to: SENDER,
      text: 'Thank you',
      received_at: '2026-11-20T13:20:29.001Z',
    },
  },
  statusEvent: {
    type: 'whatsapp.message_status',
    timestamp: '2026-11-20T13:20:28.011Z',
    data: {
      reference_id: REFERENCE_ID,
      message_id: MESSAGE_ID,
      to: TO,
      from: SENDER,
      status: 'read',
      error_code: null,
      smsc_timestamp: '2026-11-20T13:20:28.001Z',
      sequence: 3,
    },
  },
};
