import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../../http/api-error.js';
import { validated } from '../../http/validation.js';
import { SendSms } from './sms.dto.js';

const GOOD = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };

function refusal(request: Record<string, unknown>): ApiError {
  try {
    validated(SendSms, request);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the request was accepted');
}

const pathsOf = (request: Record<string, unknown>): (string | undefined)[] =>
  (refusal(request).details ?? []).map(({ path }) => path);

describe('SendSms', () => {
  it('a complete send request is read', () => {
    const request = { ...GOOD, delivery_report: 'yes', send_at: '2030-01-01T00:00:00+01:00' };
    expect(validated(SendSms, request)).toMatchObject(request);
  });

  it('defaults to no report and no send time', () => {
    expect(validated(SendSms, GOOD)).toMatchObject({ delivery_report: 'none' });
    expect(validated(SendSms, GOOD).send_at).toBeUndefined();
  });

  it('accepts body, content, or both with the same text', () => {
    const { body, ...rest } = GOOD;
    for (const texts of [{ content: body }, { body, content: body }])
      expect(validated(SendSms, { ...rest, ...texts })).toMatchObject(texts);
    expect(refusal({ ...rest, body, content: 'Bye' })).toMatchObject({
      code: 'conflicting_fields',
      status: 422,
    });
  });

  it('every wrong field is named at once', () => {
    expect(
      pathsOf({
        to: 'x',
        delivery_report: 'maybe',
        send_at: '2030-01-01T00:00:00',
        cc: [],
        type: 1,
      }),
    ).toEqual(['cc', 'type', 'from', 'to', 'body', 'delivery_report', 'send_at']);
  });

  it.each([[undefined], ['2348012345678'], [[]], [{ 0: '2348012345678' }], [null]])(
    'an invalid recipient list is refused: %j',
    (to) => {
      expect(pathsOf({ ...GOOD, to })).toEqual(['to']);
    },
  );

  it.each([
    ['Benin', '22997123456', '2290197123456'],
    ['Ivory Coast', '22507123456', '2250707123456'],
    ['Mexico', '5215512345678', '525512345678'],
    ['Brazil', '551187654321', '5511987654321'],
    ['Argentina', '5491123456789', '54111523456789'],
  ])('each form of a number of %s is accepted: %s, %s', (_country, ...to) => {
    expect(validated(SendSms, { ...GOOD, to })).toMatchObject({ to });
  });

  it.each([
    ['+2348012345678', /leave out the plus/],
    ['4402079460958', /must be 442079460958:/],
    ['112125550123', /must be 12125550123:/],
    ['370861234567', /must be 37061234567:/],
    ['234 801 234 5678', /leave out the plus, spaces/],
    ['08012345678', /without a leading zero/],
    ['00442079460958', /without a leading zero/],
    ['+44 (0)20 7946 0958', /leave out the plus/],
    ['tel:+442079460958', /7 to 15 digits/],
    ['442079460958 ext. 5', /7 to 15 digits/],
    ['\u200e442079460958', /7 to 15 digits/],
    ['123456', /7 to 15 digits/],
    ['1234567890123456', /7 to 15 digits/],
    [2348012345678, /string of digits/],
    [null, /string of digits/],
    ['grp_123456789', /7 to 15 digits/],
    ['GRP_0123456789', /7 to 15 digits/],
  ])('recipient %j is refused with the remedy', (entry, remedy) => {
    const [detail] = refusal({ ...GOOD, to: ['2348012345678', entry] }).details ?? [];
    expect(detail?.path).toBe('to[1]');
    expect(detail?.message).toMatch(remedy);
  });

  it('accepts group ids beside numbers', () => {
    const to = ['2348012345678', 'grp_0123456789'];
    expect(validated(SendSms, { ...GOOD, to })).toMatchObject({ to });
  });

  it('the first ten wrong recipients are named', () => {
    const to = Array.from({ length: 50 }, () => 'x');
    expect(pathsOf({ ...GOOD, to })).toEqual(Array.from({ length: 10 }, (_, n) => `to[${n}]`));
  });

  it.each([[''], [7], [null], [['Hello']]])(
    'content %j is refused under the name content',
    (content) => {
      expect(pathsOf({ from: GOOD.from, to: GOOD.to, content })).toEqual(['content']);
    },
  );

  it('errors repeat neither numbers nor texts', () => {
    const error = refusal({
      ...GOOD,
      to: ['+2348012345678'],
      body: 'secret',
      content: 'secret',
      x: 1,
    });
    expect(JSON.stringify(error.body)).not.toMatch(/2348012345678"|secret/);
  });
});
