import { describe, expect, it } from '@jest/globals';
import { COMMAND_STATUS } from '../command-status.js';
import { SmppDecodeError, SmppValueError } from '../errors.js';
import { decodePdu } from './decode.js';
import { encodePdu } from './encode.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const destination = { ton: 1, npi: 1, address: '2348012345678' };

function errorOf(decode: () => unknown): SmppDecodeError {
  try {
    decode();
  } catch (error) {
    if (error instanceof SmppDecodeError) return error;
    throw error;
  }
  throw new Error('It was decoded');
}

describe('encoding', () => {
  it('fields that are left out are zero or empty', () => {
    const pdu = decodePdu(encodePdu({ command: 'submit_sm', sequence: 1, destination }));
    expect(pdu).toEqual({
      command: 'submit_sm',
      status: 0,
      sequence: 1,
      tlvs: {},
      serviceType: '',
      source: { ton: 0, npi: 0, address: '' },
      destination,
      esmClass: 0,
      protocolId: 0,
      priorityFlag: 0,
      scheduleDeliveryTime: '',
      validityPeriod: '',
      registeredDelivery: 0,
      replaceIfPresentFlag: 0,
      dataCoding: 0,
      smDefaultMsgId: 0,
      shortMessage: Buffer.alloc(0),
    });
  });

  it('an answer with an error is its header, unless it has TLVs', () => {
    const status = COMMAND_STATUS.ESME_RTHROTTLED;
    expect(encodePdu({ command: 'submit_sm_resp', sequence: 2, status, messageId: 'x' })).toEqual(
      hex('00000010 80000004 00000058 00000002'),
    );
    const tlvs = { deliveryFailureReason: 2 };
    const bytes = encodePdu({ command: 'data_sm_resp', sequence: 2, status, tlvs });
    expect(decodePdu(bytes)).toMatchObject({ messageId: '', tlvs });
  });

  it('TLVs that are not known are kept with their bytes', () => {
    const unknown = [
      { tag: 0x1400, value: Buffer.from('vendor') },
      { tag: 0x1400, value: Buffer.alloc(0) },
    ];
    const bytes = encodePdu({ command: 'enquire_link', sequence: 1, tlvs: { unknown } });
    expect(decodePdu(bytes).tlvs).toEqual({ unknown });
  });

  it.each([
    ['serviceType', { serviceType: '123456' }],
    ['destination.address', { destination: { ton: 1, npi: 1, address: '1'.repeat(21) } }],
    ['destination.address', { destination: { ton: 1, npi: 1, address: '1\u00002' } }],
    ['source.address', { source: { ton: 256, npi: 1, address: '' } }],
    ['source.address', { source: { ton: 5, npi: 0, address: 'Ω' } }],
    ['validityPeriod', { validityPeriod: '2611240900' }],
    ['dataCoding', { dataCoding: 1.5 }],
    ['shortMessage', { shortMessage: Buffer.alloc(255) }],
    ['tlvs.userMessageReference', { tlvs: { userMessageReference: 65_536 } }],
    ['tlvs.messagePayload', { tlvs: { messagePayload: Buffer.alloc(65_536) } }],
  ])('a wrong %s is an error that names it: %j', (field, body) => {
    expect(() => encodePdu({ command: 'submit_sm', sequence: 1, ...body })).toThrow(
      expect.objectContaining({ constructor: SmppValueError, field, code: 'invalid_value' }),
    );
  });

  it('a refused PDU leaves nothing in the next one', () => {
    const good = { command: 'submit_sm', sequence: 1, destination } as const;
    const before = encodePdu(good);
    expect(() => encodePdu({ ...good, shortMessage: Buffer.alloc(300) })).toThrow(SmppValueError);
    expect(encodePdu(good)).toEqual(before);
  });
});

describe('decoding', () => {
  it('an answer without its body is read with empty fields', () => {
    expect(decodePdu(hex('00000010 80000004 00000008 00000001'))).toEqual({
      command: 'submit_sm_resp',
      status: 8,
      sequence: 1,
      tlvs: {},
      messageId: '',
    });
  });

  it('an unknown command is answered with ESME_RINVCMDID and its sequence number', () => {
    const error = errorOf(() => decodePdu(hex('00000010 00000111 00000000 00000007')));
    expect([error.status, error.header?.sequence]).toEqual([COMMAND_STATUS.ESME_RINVCMDID, 7]);
  });

  it.each([
    ['a length that is not the one of the bytes', '00000011 00000015 00000000 00000001', 0x02],
    ['a text without its end', '00000012 80000004 00000000 00000001 3132', 0x02],
    ['a request without its body', '00000010 00000004 00000000 00000001', 0x02],
    ['a TLV that is longer than the PDU', '00000015 00000015 00000000 00000001 0427000201', 0xc0],
    ['half a TLV', '00000013 00000015 00000000 00000001 042700', 0xc0],
    ['dest_flag 3', '00000016 00000021 00000000 00000001 00 0000 00 01 03', 0x02],
  ])('%s is refused with the status to answer with', (_what, bytes, status) => {
    expect(errorOf(() => decodePdu(hex(bytes))).status).toBe(status);
  });

  it('a TLV of the wrong length and the second of one kind are kept as unknown', () => {
    const { tlvs } = decodePdu(
      hex(
        '00000023 00000015 00000000 00000001 0427000102 0427000103 0204000101'.concat('0424 0000'),
      ),
    );
    expect(tlvs).toEqual({
      messageState: 2,
      messagePayload: Buffer.alloc(0),
      unknown: [
        { tag: 0x0427, value: Buffer.from([3]) },
        { tag: 0x0204, value: Buffer.from([1]) },
      ],
    });
  });

  it('receipted_message_id is read with and without its NUL', () => {
    const head = '80000015 00000000 00000001';
    for (const tlv of ['001e 0003 414200', '001e 0002 4142']) {
      const length = 16 + hex(tlv).length;
      const bytes = hex(`${length.toString(16).padStart(8, '0')} ${head} ${tlv}`);
      expect(decodePdu(bytes).tlvs).toEqual({ receiptedMessageId: 'AB' });
    }
  });
});
