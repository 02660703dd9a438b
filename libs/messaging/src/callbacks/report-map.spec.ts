import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError } from '../message/errors.js';
import { UnreadableCallbackError } from './callback-body.js';
import { callbackRequest } from '../../../../test/support/callback-request.js';
import { callbackParser, type ReportMap } from './callback-map.js';

const parserOf = (reports: ReportMap, entries?: string) =>
  callbackParser({ reports, ...(entries && { entries }) });
const map: ReportMap = {
  reference: 'batch',
  messageId: ['id', 'meta.id'],
  recipient: ['to', 'msisdn'],
  status: ['dlr', 'state.name'],
  statuses: { delivered: 'Ok', expired: ['gone'] },
  errorCode: 'err',
  noError: ['0'],
  time: 'at',
  timeFormat: 'epoch-seconds',
};
const parser = parserOf(map, 'list.items');
const parse = (body: unknown) => parser.parse(callbackRequest({ body }));
const one = (entry: object) => {
  const { reports, errors } = parse({ id: 'm1', dlr: 'ok', ...entry });
  expect(errors).toEqual([]);
  return reports![0]!;
};

describe('callbackParser of a report map', () => {
  it('a report map names the field with our id of the submission', () => {
    const named = parserOf({ ...map, submissionId: 'ref' });
    const body = { id: 'm1', dlr: 'ok', ref: 'b-s0' };
    expect(named.parse(callbackRequest({ body })).reports).toMatchObject([
      { submissionId: 'b-s0' },
    ]);
    const [without] = named.parse(callbackRequest({ body: { id: 'm1', dlr: 'ok' } })).reports ?? [];
    expect(without).not.toHaveProperty('submissionId');
  });

  it('a report map reads one entry, many, a nested list, and a query', () => {
    const entry = { id: 'm1', to: '+234 801 234 5678', dlr: 'OK', err: 0, at: 1_767_225_600 };
    const report = {
      reference: null,
      messageId: 'm1',
      recipient: '2348012345678',
      status: 'delivered',
      rawStatus: 'OK',
      errorCode: null,
      providerTime: new Date(1_767_225_600_000),
    };
    for (const body of [entry, [entry], { list: { items: [entry] } }, { list: { items: entry } }])
      expect(parse(body)).toEqual({ reports: [report], messages: [], errors: [] });
    const query = { id: 'm1', to: '2348012345678', dlr: 'OK', at: '1767225600' };
    expect(parser.parse(callbackRequest({ method: 'GET', query }))).toEqual({
      reports: [report],
      messages: [],
      errors: [],
    });
  });

  it('a report map uses the first present field name', () => {
    expect(one({ id: null, meta: { id: 'm2' }, msisdn: 2348012345678 })).toMatchObject({
      messageId: 'm2',
      recipient: '2348012345678',
    });
    expect(one({ id: 17 })).toMatchObject({ messageId: '17' });
  });

  it('a report map uses the first known status and keeps an unknown one raw', () => {
    expect(one({ dlr: 'odd', state: { name: 'GONE' } })).toMatchObject({
      status: 'expired',
      rawStatus: 'GONE',
    });
    expect(one({ dlr: 'odd', state: { name: 'odder' } })).toMatchObject({
      status: null,
      rawStatus: 'odd',
    });
    for (const dlr of ['__proto__', 'constructor', 'toString', 7])
      expect(one({ dlr })).toMatchObject({ status: null, rawStatus: String(dlr) });
  });

  it('a bad entry fails no other entry, and its content is not shown', () => {
    const secret = '2348012345678';
    const bad = [
      null,
      secret,
      [],
      {},
      { dlr: 'ok' },
      { id: secret },
      { id: `a\0${secret}`, dlr: 'ok' },
      { id: '\ud800', dlr: 'ok' },
      { id: 'x'.repeat(256), dlr: 'ok' },
      { id: { a: 1 }, dlr: 'ok' },
      { id: 'm1', dlr: '\0' },
      { id: 'm1', dlr: { name: 'ok' } },
      { id: 2 ** 60, dlr: 'ok' },
      JSON.parse(`{"__proto__":{"id":"m1","dlr":"ok"}}`) as unknown,
    ];
    const { reports, errors } = parse([...bad, { id: 'm1', dlr: 'ok' }]);
    expect(reports).toHaveLength(1);
    expect(errors).toHaveLength(bad.length);
    expect(errors.join()).not.toContain(secret);
  });

  it.each([
    ['words', 'soon'],
    ['a negative time', '-1'],
    ['a time beyond all calendars', 1e300],
    ['an object', { valueOf: 1 }],
    ['nothing', null],
  ])('%s is no valid time and the report is kept', (_what, at) => {
    expect(one({ at }).providerTime).toBeNull();
  });

  it.each([{}, '', 'text', 5, null, undefined])('the body %j is refused', (body) => {
    expect(() => parse(body)).toThrow(UnreadableCallbackError);
  });

  it('a report map reads times in the configured format', () => {
    const of = (timeFormat: 'offset' | 'utc' | 'epoch-milliseconds', at: unknown) =>
      parserOf({ messageId: 'id', status: 's', statuses: {}, time: 'at', timeFormat })
        .parse(callbackRequest({ body: { id: 'm', s: 'x', at } }))
        .reports?.[0]?.providerTime?.toISOString();
    expect(of('offset', '2026-01-01T10:00:00.000+0100')).toBe('2026-01-01T09:00:00.000Z');
    expect(of('offset', '2026-01-01 10:00:00')).toBeUndefined();
    expect(of('utc', '2026-01-01 10:00:00')).toBe('2026-01-01T10:00:00.000Z');
    expect(of('utc', '2026-01-01T10:00:00.5+01:00')).toBe('2026-01-01T09:00:00.500Z');
    expect(of('utc', '2026-13-01 10:00:00')).toBeUndefined();
    expect(of('epoch-milliseconds', '1767225600000')).toBe('2026-01-01T00:00:00.000Z');
  });

  it('an invalid field map fails at boot', () => {
    expect(() => parserOf({ status: 's', statuses: {} })).toThrow(MessagingConfigError);
    expect(() => parserOf({ messageId: 'id', status: 's', statuses: { queued: 'ok' } })).toThrow(
      /queued is no status/,
    );
  });
});
