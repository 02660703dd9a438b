import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UnreadableCallbackError } from './callback-body.js';
import { callbackRequest } from '../../../../test/support/callback-request.js';
import { callbackParser, type InboundMap } from './callback-map.js';

const parserOf = (messages: InboundMap, entries?: string) =>
  callbackParser({ messages, ...(entries && { entries }) });
const map: InboundMap = {
  only: { kind: 'message' },
  except: 'status',
  messageId: ['id', 'meta.id'],
  from: ['from', 'sender.number'],
  bsuid: 'user',
  to: 'to',
  text: ['text', 'content'],
  media: 'image',
  channel: 'sms',
  channelWord: 'via',
  channels: { sms: 'mms', whatsapp: 'whatsapp' },
  time: 'at',
  timeFormat: 'epoch-seconds',
};
const parser = parserOf(map, 'list');
const parse = (body: unknown) => parser.parse(callbackRequest({ body }));
const FROM = '2348012345678';
const TO = '2348000000001';
const whole = { id: 'm1', from: FROM, to: TO, text: 'Hi', at: 1_767_225_600 };
const one = (entry: object) => {
  const { messages = [], errors } = parse({ ...whole, ...entry });
  expect(errors).toEqual([]);
  return messages[0];
};

describe('callbackParser of an inbound map', () => {
  it('an inbound map reads one entry, many, nested lists, and a query', () => {
    const message = {
      messageId: 'm1',
      channel: 'sms',
      from: FROM,
      bsuid: null,
      to: TO,
      text: 'Hi',
      sentAt: new Date(1_767_225_600_000),
    };
    for (const body of [whole, [whole], { list: [whole] }, { list: whole }])
      expect(parse(body)).toEqual({ reports: [], messages: [message], errors: [] });
    const query = { ...whole, at: '1767225600' };
    expect(parser.parse(callbackRequest({ method: 'GET', query })).messages).toEqual([message]);
  });

  it('an inbound map reads the sender by number, user id, or both', () => {
    expect(one({ from: '+234 801-234 5678' })).toMatchObject({ from: FROM, bsuid: null });
    expect(one({ from: undefined, sender: { number: 2348012345678 } })).toMatchObject({
      from: FROM,
    });
    expect(one({ user: 'NG.123' })).toMatchObject({ from: FROM, bsuid: 'NG.123' });
    expect(one({ from: undefined, user: 'NG.123' })).toMatchObject({ from: null, bsuid: 'NG.123' });
    expect(one({ from: 'NG.ENT.13491208655302741918' })).toMatchObject({
      from: null,
      bsuid: 'NG.ENT.13491208655302741918',
    });
  });

  it('an inbound map reads our number, short code or name', () => {
    for (const [to, ours] of [
      [`+${TO}`, TO],
      [22_384, '22384'],
      ['ACME', 'ACME'],
      [`whatsapp:+${TO}`, TO],
    ])
      expect(one({ to })?.to).toBe(ours);
  });

  it('an inbound map reads the channel from a prefix or field, SMS by default', () => {
    const channels = [{}, { via: 'SMS' }, { via: 'mms' }, { via: ' WhatsApp ' }].map(
      (entry) => one(entry)?.channel,
    );
    expect(channels).toEqual(['sms', 'sms', 'sms', 'whatsapp']);
    expect(one({ from: `whatsapp:+${FROM}`, via: 'sms' })).toMatchObject({
      channel: 'whatsapp',
      from: FROM,
    });
    expect(one({ from: 'whatsapp:NG.123' })).toMatchObject({ from: null, bsuid: 'NG.123' });
  });

  it('an inbound map skips entries of other kinds and channels', () => {
    for (const other of [
      { kind: 'report' },
      { status: 'delivered' },
      { via: 'viber' },
      { from: `messenger:${FROM}` },
    ])
      expect(parse([{ ...whole, ...other }])).toEqual({ reports: [], messages: [], errors: [] });
    expect(parse({ status: 'delivered', list: [whole] })).toEqual({
      reports: [],
      messages: [],
      errors: [],
    });
  });

  it('an inbound map gives null text for media and empty text', () => {
    expect(one({ content: 'more' })?.text).toBe('Hi');
    expect(one({ text: '', content: 'more' })?.text).toBe('more');
    expect(one({ text: { body: 'x' } })?.text).toBeNull();
    expect(one({ text: undefined })?.text).toBeNull();
    expect(one({ image: 'image/jpeg', text: 'aGVsbG8=' })?.text).toBeNull();
  });

  it('an entry without id, sender or our number is refused alone', () => {
    const bad = [
      { ...whole, id: undefined },
      { ...whole, id: { a: 1 } },
      { ...whole, id: 2 ** 60 },
      { ...whole, from: { name: 'somebody' } },
      { ...whole, from: 'whatsapp:' },
      { ...whole, to: { number: TO } },
      { ...whole, to: '\0' },
      null,
      [],
      FROM,
      JSON.parse(`{"__proto__":{"id":"m","from":"${FROM}","to":"${TO}"}}`) as unknown,
    ];
    const { messages = [], errors } = parse([...bad, whole]);
    expect(messages).toHaveLength(1);
    expect(errors).toHaveLength(bad.length);
    expect(errors.join()).not.toContain(FROM);
  });

  it.each([{}, '', 'text', 5, null, undefined])('the body %j is refused', (body) => {
    expect(() => parse(body)).toThrow(UnreadableCallbackError);
  });

  it('an invalid field map fails at boot', () => {
    const least = { messageId: 'id', from: 'from', to: 'to', channel: 'sms' };
    for (const [field, name] of [
      ['messageId', undefined],
      ['from', ''],
      ['to', []],
      ['channel', ''],
    ] as const)
      expect(() => parserOf({ ...least, [field]: name })).toThrow(`messages.${field}: must`);
  });

  it('an inbound map yields only messages with id, sender and number', () => {
    const field = fc.constantFrom('id', 'from', 'to', 'text', 'via', 'at', 'list', 'user', 'image');
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(FROM, `whatsapp:+${FROM}`, 'NG.1', 7));
    const entry = fc.dictionary(field, value, { minKeys: 1 });
    fc.assert(
      fc.property(
        fc.oneof(entry, fc.array(entry), fc.record({ list: fc.array(entry) })),
        (body) => {
          const { messages = [], errors } = parse(body);
          for (const { messageId, from, bsuid, to } of messages) {
            expect(messageId).toMatch(/./);
            expect(to).toMatch(/./);
            expect(from ?? bsuid).toMatch(/./);
          }
          expect(errors.join()).not.toContain(FROM);
        },
      ),
    );
  });
});
