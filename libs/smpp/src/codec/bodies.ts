import { SmppValueError } from '../errors.js';
import { type ByteReader, OverrunError } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';
import type { Command } from './commands.js';
import type {
  AlertBody,
  BindBody,
  BindResponseBody,
  Bodies,
  CancelBody,
  DataBody,
  Destination,
  EmptyBody,
  MessageBody,
  MessageIdBody,
  OutbindBody,
  QueryBody,
  QueryResponseBody,
  RefusedDestination,
  ReplaceBody,
  SmppAddress,
  SubmitMultiBody,
  SubmitMultiResponseBody,
} from './pdu.js';

/** Reads and writes the mandatory fields of a PDU, in the order of the specification. */
export interface BodyCodec<B> {
  read(reader: ByteReader): B;
  write(writer: ByteWriter, body: Partial<B>): void;
  /** Body of an answer that leaves it out, as an error does. */
  readonly absent?: B;
}

/** Longest `short_message`; `sm_length` 255 is reserved. */
const MAX_SHORT_MESSAGE = 254;
const MAX_DESTINATIONS = 254;
const NO_ADDRESS: SmppAddress = { ton: 0, npi: 0, address: '' };
const NO_BYTES = Buffer.alloc(0);
/** Length of an address with its NUL, and in `data_sm` and `alert_notification`. */
const ADDRESS = 21;
const LONG_ADDRESS = 65;

function readAddress(reader: ByteReader, field: string): SmppAddress {
  const ton = reader.uint8(field);
  const npi = reader.uint8(field);
  return { ton, npi, address: reader.cString(field) };
}

function writeAddress(
  writer: ByteWriter,
  { ton, npi, address }: SmppAddress = NO_ADDRESS,
  size: number,
  field: string,
): void {
  writer.uint8(ton, field);
  writer.uint8(npi, field);
  writer.cString(address, size, field);
}

function writeTime(writer: ByteWriter, value = '', field: string): void {
  if (value !== '' && value.length !== 16)
    throw new SmppValueError(field, 'use a time of 16 characters, or an empty text');
  writer.cString(value, 17, field);
}

function writeShortMessage(writer: ByteWriter, value: Buffer = NO_BYTES): void {
  if (value.length > MAX_SHORT_MESSAGE)
    throw new SmppValueError(
      'shortMessage',
      `use at most ${MAX_SHORT_MESSAGE} bytes, parts (splitMessage), or tlvs.messagePayload`,
    );
  writer.uint8(value.length, 'shortMessage');
  writer.bytes(value);
}

const readShortMessage = (reader: ByteReader): Buffer =>
  reader.bytes(reader.uint8('shortMessage'), 'shortMessage');

const bind: BodyCodec<BindBody> = {
  read: (reader) => ({
    systemId: reader.cString('systemId'),
    password: reader.cString('password'),
    systemType: reader.cString('systemType'),
    interfaceVersion: reader.uint8('interfaceVersion'),
    addressTon: reader.uint8('addressTon'),
    addressNpi: reader.uint8('addressNpi'),
    addressRange: reader.cString('addressRange'),
  }),
  write(writer, body) {
    writer.cString(body.systemId ?? '', 16, 'systemId');
    writer.cString(body.password ?? '', 9, 'password');
    writer.cString(body.systemType ?? '', 13, 'systemType');
    writer.uint8(body.interfaceVersion ?? 0x34, 'interfaceVersion');
    writer.uint8(body.addressTon ?? 0, 'addressTon');
    writer.uint8(body.addressNpi ?? 0, 'addressNpi');
    writer.cString(body.addressRange ?? '', 41, 'addressRange');
  },
};

const bindResponse: BodyCodec<BindResponseBody> = {
  read: (reader) => ({ systemId: reader.cString('systemId') }),
  write: (writer, { systemId = '' }) => writer.cString(systemId, 16, 'systemId'),
  absent: { systemId: '' },
};

const outbind: BodyCodec<OutbindBody> = {
  read: (reader) => ({
    systemId: reader.cString('systemId'),
    password: reader.cString('password'),
  }),
  write(writer, { systemId = '', password = '' }) {
    writer.cString(systemId, 16, 'systemId');
    writer.cString(password, 9, 'password');
  },
};

const empty: BodyCodec<EmptyBody> = { read: () => ({}), write: () => undefined, absent: {} };

type MessageTail = Omit<MessageBody, 'serviceType' | 'source' | 'destination'>;

const readMessageTail = (reader: ByteReader): MessageTail => ({
  esmClass: reader.uint8('esmClass'),
  protocolId: reader.uint8('protocolId'),
  priorityFlag: reader.uint8('priorityFlag'),
  scheduleDeliveryTime: reader.cString('scheduleDeliveryTime'),
  validityPeriod: reader.cString('validityPeriod'),
  registeredDelivery: reader.uint8('registeredDelivery'),
  replaceIfPresentFlag: reader.uint8('replaceIfPresentFlag'),
  dataCoding: reader.uint8('dataCoding'),
  smDefaultMsgId: reader.uint8('smDefaultMsgId'),
  shortMessage: readShortMessage(reader),
});

function writeMessageTail(writer: ByteWriter, body: Partial<MessageTail>): void {
  writer.uint8(body.esmClass ?? 0, 'esmClass');
  writer.uint8(body.protocolId ?? 0, 'protocolId');
  writer.uint8(body.priorityFlag ?? 0, 'priorityFlag');
  writeTime(writer, body.scheduleDeliveryTime, 'scheduleDeliveryTime');
  writeTime(writer, body.validityPeriod, 'validityPeriod');
  writer.uint8(body.registeredDelivery ?? 0, 'registeredDelivery');
  writer.uint8(body.replaceIfPresentFlag ?? 0, 'replaceIfPresentFlag');
  writer.uint8(body.dataCoding ?? 0, 'dataCoding');
  writer.uint8(body.smDefaultMsgId ?? 0, 'smDefaultMsgId');
  writeShortMessage(writer, body.shortMessage);
}

const message: BodyCodec<MessageBody> = {
  // One object literal: spreading the tail would cost a third of the decoding.
  read: (reader) => ({
    serviceType: reader.cString('serviceType'),
    source: readAddress(reader, 'source.address'),
    destination: readAddress(reader, 'destination.address'),
    esmClass: reader.uint8('esmClass'),
    protocolId: reader.uint8('protocolId'),
    priorityFlag: reader.uint8('priorityFlag'),
    scheduleDeliveryTime: reader.cString('scheduleDeliveryTime'),
    validityPeriod: reader.cString('validityPeriod'),
    registeredDelivery: reader.uint8('registeredDelivery'),
    replaceIfPresentFlag: reader.uint8('replaceIfPresentFlag'),
    dataCoding: reader.uint8('dataCoding'),
    smDefaultMsgId: reader.uint8('smDefaultMsgId'),
    shortMessage: readShortMessage(reader),
  }),
  write(writer, body) {
    writer.cString(body.serviceType ?? '', 6, 'serviceType');
    writeAddress(writer, body.source, ADDRESS, 'source.address');
    writeAddress(writer, body.destination, ADDRESS, 'destination.address');
    writeMessageTail(writer, body);
  },
};

function readDestination(reader: ByteReader): Destination {
  const flag = reader.uint8('destinations');
  if (flag === 1) return readAddress(reader, 'destinations');
  if (flag !== 2) throw new OverrunError('destinations', `dest_flag ${flag} is neither 1 nor 2`);
  return { distributionList: reader.cString('destinations') };
}

function writeDestination(writer: ByteWriter, destination: Destination): void {
  if ('distributionList' in destination) {
    writer.uint8(2, 'destinations');
    return writer.cString(destination.distributionList, 21, 'destinations');
  }
  writer.uint8(1, 'destinations');
  return writeAddress(writer, destination, ADDRESS, 'destinations');
}

const submitMulti: BodyCodec<SubmitMultiBody> = {
  read: (reader) => ({
    serviceType: reader.cString('serviceType'),
    source: readAddress(reader, 'source.address'),
    destinations: list(reader, 'destinations', readDestination),
    ...readMessageTail(reader),
  }),
  write(writer, body) {
    const destinations = body.destinations ?? [];
    if (destinations.length > MAX_DESTINATIONS)
      throw new SmppValueError('destinations', `use at most ${MAX_DESTINATIONS}`);
    writer.cString(body.serviceType ?? '', 6, 'serviceType');
    writeAddress(writer, body.source, ADDRESS, 'source.address');
    writer.uint8(destinations.length, 'destinations');
    for (const destination of destinations) writeDestination(writer, destination);
    writeMessageTail(writer, body);
  },
};

const submitMultiResponse: BodyCodec<SubmitMultiResponseBody> = {
  read: (reader) => ({
    messageId: reader.cString('messageId'),
    refused: list(reader, 'refused', (): RefusedDestination => ({
      ...readAddress(reader, 'refused'),
      status: reader.uint32('refused'),
    })),
  }),
  write(writer, { messageId = '', refused = [] }) {
    writer.cString(messageId, 65, 'messageId');
    writer.uint8(refused.length, 'refused');
    for (const each of refused) {
      writeAddress(writer, each, ADDRESS, 'refused');
      writer.uint32(each.status, 'refused');
    }
  },
  absent: { messageId: '', refused: [] },
};

function list<T>(reader: ByteReader, field: string, read: (reader: ByteReader) => T): T[] {
  const items: T[] = [];
  for (let count = reader.uint8(field); count > 0; count--) items.push(read(reader));
  return items;
}

const data: BodyCodec<DataBody> = {
  read: (reader) => ({
    serviceType: reader.cString('serviceType'),
    source: readAddress(reader, 'source.address'),
    destination: readAddress(reader, 'destination.address'),
    esmClass: reader.uint8('esmClass'),
    registeredDelivery: reader.uint8('registeredDelivery'),
    dataCoding: reader.uint8('dataCoding'),
  }),
  write(writer, body) {
    writer.cString(body.serviceType ?? '', 6, 'serviceType');
    writeAddress(writer, body.source, LONG_ADDRESS, 'source.address');
    writeAddress(writer, body.destination, LONG_ADDRESS, 'destination.address');
    writer.uint8(body.esmClass ?? 0, 'esmClass');
    writer.uint8(body.registeredDelivery ?? 0, 'registeredDelivery');
    writer.uint8(body.dataCoding ?? 0, 'dataCoding');
  },
};

const writeMessageId = (writer: ByteWriter, messageId = ''): void =>
  writer.cString(messageId, 65, 'messageId');

const messageId: BodyCodec<MessageIdBody> = {
  read: (reader) => ({ messageId: reader.cString('messageId') }),
  write: (writer, body) => writeMessageId(writer, body.messageId),
  absent: { messageId: '' },
};

const query: BodyCodec<QueryBody> = {
  read: (reader) => ({
    messageId: reader.cString('messageId'),
    source: readAddress(reader, 'source.address'),
  }),
  write(writer, body) {
    writeMessageId(writer, body.messageId);
    writeAddress(writer, body.source, ADDRESS, 'source.address');
  },
};

const queryResponse: BodyCodec<QueryResponseBody> = {
  read: (reader) => ({
    messageId: reader.cString('messageId'),
    finalDate: reader.cString('finalDate'),
    messageState: reader.uint8('messageState'),
    errorCode: reader.uint8('errorCode'),
  }),
  write(writer, body) {
    writeMessageId(writer, body.messageId);
    writeTime(writer, body.finalDate, 'finalDate');
    writer.uint8(body.messageState ?? 0, 'messageState');
    writer.uint8(body.errorCode ?? 0, 'errorCode');
  },
  absent: { messageId: '', finalDate: '', messageState: 0, errorCode: 0 },
};

const cancel: BodyCodec<CancelBody> = {
  read: (reader) => ({
    serviceType: reader.cString('serviceType'),
    messageId: reader.cString('messageId'),
    source: readAddress(reader, 'source.address'),
    destination: readAddress(reader, 'destination.address'),
  }),
  write(writer, body) {
    writer.cString(body.serviceType ?? '', 6, 'serviceType');
    writeMessageId(writer, body.messageId);
    writeAddress(writer, body.source, ADDRESS, 'source.address');
    writeAddress(writer, body.destination, ADDRESS, 'destination.address');
  },
};

const replace: BodyCodec<ReplaceBody> = {
  read: (reader) => ({
    messageId: reader.cString('messageId'),
    source: readAddress(reader, 'source.address'),
    scheduleDeliveryTime: reader.cString('scheduleDeliveryTime'),
    validityPeriod: reader.cString('validityPeriod'),
    registeredDelivery: reader.uint8('registeredDelivery'),
    smDefaultMsgId: reader.uint8('smDefaultMsgId'),
    shortMessage: readShortMessage(reader),
  }),
  write(writer, body) {
    writeMessageId(writer, body.messageId);
    writeAddress(writer, body.source, ADDRESS, 'source.address');
    writeTime(writer, body.scheduleDeliveryTime, 'scheduleDeliveryTime');
    writeTime(writer, body.validityPeriod, 'validityPeriod');
    writer.uint8(body.registeredDelivery ?? 0, 'registeredDelivery');
    writer.uint8(body.smDefaultMsgId ?? 0, 'smDefaultMsgId');
    writeShortMessage(writer, body.shortMessage);
  },
};

const alert: BodyCodec<AlertBody> = {
  read: (reader) => ({
    source: readAddress(reader, 'source.address'),
    esme: readAddress(reader, 'esme.address'),
  }),
  write(writer, body) {
    writeAddress(writer, body.source, LONG_ADDRESS, 'source.address');
    writeAddress(writer, body.esme, LONG_ADDRESS, 'esme.address');
  },
};

export const BODIES: { readonly [C in Command]: BodyCodec<Bodies[C]> } = {
  bind_receiver: bind,
  bind_receiver_resp: bindResponse,
  bind_transmitter: bind,
  bind_transmitter_resp: bindResponse,
  bind_transceiver: bind,
  bind_transceiver_resp: bindResponse,
  outbind,
  unbind: empty,
  unbind_resp: empty,
  generic_nack: empty,
  submit_sm: message,
  submit_sm_resp: messageId,
  submit_multi: submitMulti,
  submit_multi_resp: submitMultiResponse,
  deliver_sm: message,
  deliver_sm_resp: messageId,
  data_sm: data,
  data_sm_resp: messageId,
  query_sm: query,
  query_sm_resp: queryResponse,
  cancel_sm: cancel,
  cancel_sm_resp: empty,
  replace_sm: replace,
  replace_sm_resp: empty,
  enquire_link: empty,
  enquire_link_resp: empty,
  alert_notification: alert,
};
