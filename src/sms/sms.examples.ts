const REFERENCE_ID = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd';

const SUMMARY = {
  reference_id: REFERENCE_ID,
  from: 'ACME',
  body: 'Hello',
  delivery_report: 'yes',
  status: 'completed',
  created_at: '2026-11-20T13:20:27.921Z',
  send_at: null,
  recipients_processed: 1,
  parts: 1,
  cost: null,
  currency: null,
  counts: { delivered: 1 },
};

const REPORT = {
  reference_id: REFERENCE_ID,
  message_id: `${REFERENCE_ID}-0`,
  to: '2348012345678',
  from: 'ACME',
  status: 'delivered',
  error_code: null,
  smsc_timestamp: '2026-11-20T13:20:27.933Z',
  sequence: 2,
};

/** Examples of the SMS surface, held to their schemas by a spec. */
export const SMS_EXAMPLES = {
  send: {
    'at once': { from: 'ACME', to: ['2348012345678'], body: 'Hello', delivery_report: 'yes' },
    later: {
      from: 'ACME',
      to: ['2348012345678', '2348012345679'],
      content: 'Hello',
      send_at: '2030-01-31T09:00:00+01:00',
    },
    'to a group': {
      from: 'ACME',
      to: ['grp_4yGq0cXo2vGdXk1w8bTzRs', '2348012345679'],
      body: 'Hello',
    },
  },
  sendAnswer: {
    status_code: 200,
    message: 'Your request is being processed',
    reference_id: REFERENCE_ID,
    recipients_processed: 1,
    created_at: '2026-11-20T13:20:27.921Z',
  },
  reschedule: { later: { send_at: '2030-01-31T09:00:00+01:00' } },
  batch: { ...SUMMARY, to: ['2348012345678'] },
  batches: { data: [SUMMARY], next_cursor: null },
  reports: { data: [{ ...REPORT, received_at: '2026-11-20T13:20:28.001Z' }], next_cursor: null },
  estimate: { 'an em dash': { body: 'Hello — world' } },
  estimateAnswer: {
    encoding: 'UCS-2',
    parts: 1,
    units: 13,
    ucs2_characters: ['—'],
    cost: null,
    currency: null,
  },
  event: { type: 'sms.delivery_report', timestamp: '2026-11-20T13:20:28.001Z', data: REPORT },
};
