import { registryOf } from '../../channels/built-in-channels.js';
import { describe, expect, it } from '@jest/globals';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { UnreadableCallbackError } from '../../callbacks/callback-body.js';
import { interfaceParser } from './interface-callbacks.js';

const NOW = Date.UTC(2026, 5, 1);
const parse = (request: CallbackRequest) => {
  const { reports = [], errors } = interfaceParser(registryOf()).parse(request);
  return { reports, errors };
};

const data = {
  reference_id: '0198f6f0-0000-7000-8000-000000000001',
  message_id: '0198f6f0-0000-7000-8000-000000000001-0',
  to: '2348012345678',
  from: 'ACME',
  status: 'delivered',
  error_code: null,
  smsc_timestamp: '2026-05-31T23:59:59.123Z',
  sequence: 2,
};
const event = { type: 'sms.delivery_report', timestamp: '2026-05-31T23:59:59.500Z', data };
const report = {
  reference: data.reference_id,
  messageId: data.message_id,
  recipient: data.to,
  status: 'delivered',
  rawStatus: 'delivered',
  errorCode: null,
  providerTime: new Date(data.smsc_timestamp),
};

function post(body: unknown): CallbackRequest {
  return callbackRequest({ body, receivedAt: NOW });
}

describe('interfaceParser', () => {
  it.each<[string, unknown, number]>([
    ['an event', event, 1],
    ['bare data', data, 1],
    ['events', [event, event], 2],
    ['events and bare data', [event, data], 2],
    ['an event without its type', { data }, 1],
    ['a WhatsApp event', { ...event, type: 'whatsapp.message_status' }, 1],
  ])('the interface parser reads %s', (_what, body, count) => {
    expect(parse(post(body))).toEqual({ reports: Array(count).fill(report), errors: [] });
  });

  it('the interface parser reads the query of a GET', () => {
    const query = { reference_id: 'r', to: '+234 801 234 5678', status: 'DELIVERED' };
    expect(parse({ ...post(undefined), method: 'GET', query }).reports).toMatchObject([
      { reference: 'r', recipient: '2348012345678', status: 'delivered', rawStatus: 'DELIVERED' },
    ]);
  });

  it('the interface parser ignores the query of a POST', () => {
    const { reports } = parse({ ...post(event), query: { status: 'failed' } });
    expect(reports).toEqual([report]);
  });

  it('an inbound message says where it opens no window', () => {
    const data = { message_id: 'm', from: '2348012345678', to: '2348000000001', text: 'Hi' };
    const read = (more: object) =>
      interfaceParser(registryOf()).parse(
        post({ type: 'whatsapp.message_received', data: { ...data, ...more } }),
      ).messages?.[0];
    expect(read({ opens_window: false })).toMatchObject({ text: 'Hi', opensWindow: false });
    expect(read({})).not.toHaveProperty('opensWindow');
  });

  it('the interface parser reads the events of an email, with the details of a bounce', () => {
    const to = 'ada@example.com';
    const bounce = { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1', secret: 'x' };
    const email = (type: string, changes: object) => ({
      ...event,
      type,
      data: { ...data, to, tags: [], metadata: {}, bounce: null, ...changes },
    });
    const { reports, errors } = parse(
      post([
        email('email.sent', { status: 'sent' }),
        email('email.delayed', { status: 'sent', error_code: '4.7.1' }),
        email('email.bounced', { status: 'bounced', error_code: '5.1.1', bounce }),
        email('email.unsubscribed', { status: 'delivered' }),
      ]),
    );
    expect(errors).toEqual([]);
    const of = { ...report, recipient: to };
    expect(reports).toEqual([
      { ...of, status: 'sent', rawStatus: 'sent' },
      { ...of, status: 'delayed', rawStatus: 'delayed', errorCode: '4.7.1' },
      {
        ...of,
        status: 'bounced',
        rawStatus: 'bounced',
        errorCode: '5.1.1',
        details: {
          category: 'recipient',
          smtp_code: 550,
          enhanced_code: '5.1.1',
          diagnostic: null,
          remote_mta: null,
        },
      },
      { ...of, status: 'unsubscribed', rawStatus: 'unsubscribed' },
    ]);
  });

  it('an inbound email is read, and its sender counts as unproven', () => {
    const inbound = {
      type: 'email.received',
      timestamp: '2026-05-31T23:59:59.500Z',
      data: {
        message_id: 'a1',
        from: 'ada@Example.org',
        bsuid: null,
        to: 'hello@shop.example',
        text: 'STOP',
        received_at: '2026-05-31T23:59:58.000Z',
      },
    };
    const { messages, errors } = interfaceParser(registryOf()).parse(post(inbound));
    expect([messages, errors]).toEqual([
      [
        {
          messageId: 'a1',
          channel: 'email',
          from: 'ada@example.org',
          bsuid: null,
          to: 'hello@shop.example',
          text: 'STOP',
          sentAt: new Date('2026-05-31T23:59:58.000Z'),
          authentic: false,
        },
      ],
      [],
    ]);
    for (const [field, value] of [
      ['from', 'nobody'],
      ['to', null],
      ['message_id', ''],
    ])
      expect(
        interfaceParser(registryOf()).parse(
          post([{ ...inbound, data: { ...inbound.data, [field as string]: value } }]),
        ),
      ).toMatchObject({ messages: [], errors: [expect.any(String)] });
  });

  it('events of other types are skipped', () => {
    const foreign = { type: 'whatsapp.template_status', timestamp: 'x', data: { text: 'hi' } };
    expect(parse(post([foreign, event]))).toEqual({ reports: [report], errors: [] });
    expect(parse(post(foreign))).toEqual({ reports: [], errors: [] });
  });

  it('a bad entry fails no other entry, and its values are not shown', () => {
    const secret = '2348099999999';
    const bad = [
      null,
      7,
      secret,
      [secret],
      {},
      { data: null },
      { data: secret },
      { to: secret, status: 'delivered' },
      { reference_id: secret },
      { reference_id: secret, status: '' },
      { reference_id: secret, status: { delivered: true } },
      { reference_id: ['r'], status: 'delivered' },
      { reference_id: `a\0${secret}`, status: 'delivered' },
      { reference_id: 'x'.repeat(256), status: 'delivered' },
      { reference_id: '\ud800', status: 'delivered' },
      JSON.parse(`{"__proto__":{"reference_id":"${secret}","status":"delivered"}}`) as unknown,
    ];
    const { reports, errors } = parse(post([event, ...bad, data]));
    expect(reports).toEqual([report, report]);
    expect(errors).toHaveLength(bad.length);
    expect(errors[0]).toBe('entry 1: not an object');
    expect(errors.join()).not.toContain(secret);
  });

  it('prototype keys are ignored', () => {
    const body = JSON.parse(
      `{"constructor":1,"__proto__":{"status":"failed"},"reference_id":"r","status":"delivered"}`,
    ) as unknown;
    expect(parse(post(body)).reports).toMatchObject([{ status: 'delivered' }]);
    expect(({} as Record<string, unknown>).status).toBeUndefined();
  });

  it('fields of a wrong type count as missing', () => {
    const body = { ...data, message_id: 5, to: { a: 1 }, error_code: [1], smsc_timestamp: 17 };
    expect(parse(post(body)).reports).toEqual([
      { ...report, messageId: null, recipient: null, errorCode: null, providerTime: null },
    ]);
    const numeric = { ...data, to: 2348012345678, error_code: 34 };
    expect(parse(post(numeric)).reports).toEqual([{ ...report, errorCode: '34' }]);
    expect(parse(post({ ...data, error_code: '000' })).reports).toEqual([report]);
  });

  it.each([
    'UNDELIV',
    'constructor',
    '__proto__',
    'queued',
    'cancelled',
    'unknown',
    'del\0ivered?',
  ])('the unknown status %j is kept raw', (status) => {
    const [read] = parse(post({ ...data, status })).reports;
    expect(read).toMatchObject({ status: null, rawStatus: status.replace('\0', '') });
  });

  it('an overlong status is cut', () => {
    const [read] = parse(post({ ...data, status: 'x'.repeat(100_000) })).reports;
    expect(read?.rawStatus).toHaveLength(64);
  });

  it.each([
    ['2026-05-31T23:59:59+01:00', '2026-05-31T22:59:59.000Z'],
    ['2026-05-31 23:59:59z', '2026-05-31T23:59:59.000Z'],
    ['2026-05-31T23:59:59.123456789Z', '2026-05-31T23:59:59.123Z'],
    ['2026-05-31T23:59:59', null],
    ['2026-02-31T25:00:00Z', null],
    ['0000-00-00T00:00:00Z', null],
    ['+275760-09-13T00:00:00Z', null],
    ['2026-06-01T23:00:00Z', '2026-06-01T23:00:00.000Z'],
    ['soon', null],
  ])('the time %s is %s', (smsc_timestamp, expected) => {
    const [read] = parse(post({ ...data, smsc_timestamp })).reports;
    expect(read?.providerTime?.toISOString() ?? null).toBe(expected);
  });

  it.each([undefined, null, '', 'text', 7, true, {}])(
    'the body %j is refused as unreadable',
    (body) => {
      expect(() => parse(post(body))).toThrow(UnreadableCallbackError);
    },
  );

  it('an empty array has no reports', () => {
    expect(parse(post([]))).toEqual({ reports: [], errors: [] });
  });
});
