import fc from 'fast-check';
import type { Bodies, Command, PduInput, SmppAddress, Tlvs } from '@dundun/smpp';

const byte = fc.integer({ min: 0, max: 255 });
const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((value) => Buffer.from(value));
/** Printable, so that ASCII and Latin-1 are the same. */
const text = (maxLength: number) =>
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
    maxLength,
  });
const time = fc.constantFrom('', '261124090000000+', '000001000000000R');

const address = (maxLength: number): fc.Arbitrary<SmppAddress> =>
  fc.record({ ton: byte, npi: byte, address: text(maxLength) });
const source = address(20);
const destination = address(20);
const messageId = text(64);
const bind = fc.record({
  systemId: text(15),
  password: text(8),
  systemType: text(12),
  interfaceVersion: byte,
  addressTon: byte,
  addressNpi: byte,
  addressRange: text(40),
});
const bindResponse = fc.record({ systemId: text(15) });
const tail = {
  esmClass: byte,
  protocolId: byte,
  priorityFlag: byte,
  scheduleDeliveryTime: time,
  validityPeriod: time,
  registeredDelivery: byte,
  replaceIfPresentFlag: byte,
  dataCoding: byte,
  smDefaultMsgId: byte,
  shortMessage: bytes(254),
};
const message = fc.record({ serviceType: text(5), source, destination, ...tail });
const empty = fc.constant({});

const bodies: { readonly [C in Command]: fc.Arbitrary<Bodies[C]> } = {
  bind_receiver: bind,
  bind_receiver_resp: bindResponse,
  bind_transmitter: bind,
  bind_transmitter_resp: bindResponse,
  bind_transceiver: bind,
  bind_transceiver_resp: bindResponse,
  outbind: fc.record({ systemId: text(15), password: text(8) }),
  unbind: empty,
  unbind_resp: empty,
  generic_nack: empty,
  submit_sm: message,
  submit_sm_resp: fc.record({ messageId }),
  submit_multi: fc.record({
    serviceType: text(5),
    source,
    destinations: fc.array(fc.oneof(destination, fc.record({ distributionList: text(20) })), {
      maxLength: 254,
    }),
    ...tail,
  }),
  submit_multi_resp: fc.record({
    messageId,
    refused: fc.array(
      fc.record({ ton: byte, npi: byte, address: text(20), status: fc.nat(0xffff_ffff) }),
      { maxLength: 255 },
    ),
  }),
  deliver_sm: message,
  deliver_sm_resp: fc.record({ messageId }),
  data_sm: fc.record({
    serviceType: text(5),
    source: address(64),
    destination: address(64),
    esmClass: byte,
    registeredDelivery: byte,
    dataCoding: byte,
  }),
  data_sm_resp: fc.record({ messageId }),
  query_sm: fc.record({ messageId, source }),
  query_sm_resp: fc.record({ messageId, finalDate: time, messageState: byte, errorCode: byte }),
  cancel_sm: fc.record({ serviceType: text(5), messageId, source, destination }),
  cancel_sm_resp: empty,
  replace_sm: fc.record({
    messageId,
    source,
    scheduleDeliveryTime: time,
    validityPeriod: time,
    registeredDelivery: byte,
    smDefaultMsgId: byte,
    shortMessage: bytes(254),
  }),
  replace_sm_resp: empty,
  enquire_link: empty,
  enquire_link_resp: empty,
  alert_notification: fc.record({ source: address(64), esme: address(64) }),
};

const word = fc.integer({ min: 0, max: 0xffff });

/** Every TLV of SMPP 3.4, those that the package `smpp` writes otherwise left out. */
const arbitraryTlvs: fc.Arbitrary<Tlvs> = fc.record(
  {
    destAddrSubunit: byte,
    destNetworkType: byte,
    destBearerType: byte,
    destTelematicsId: word,
    sourceAddrSubunit: byte,
    sourceNetworkType: byte,
    sourceBearerType: byte,
    qosTimeToLive: fc.nat(0xffff_ffff),
    payloadType: byte,
    additionalStatusInfoText: text(255),
    receiptedMessageId: text(64),
    msMsgWaitFacilities: byte,
    privacyIndicator: byte,
    sourceSubaddress: bytes(23),
    destSubaddress: bytes(23),
    userMessageReference: word,
    userResponseCode: byte,
    sourcePort: word,
    destinationPort: word,
    sarMsgRefNum: word,
    languageIndicator: byte,
    sarTotalSegments: byte,
    sarSegmentSeqnum: byte,
    scInterfaceVersion: byte,
    callbackNumPresInd: fc.array(byte, { minLength: 1, maxLength: 3 }),
    callbackNumAtag: fc.array(
      bytes(65).filter(({ length }) => length > 0),
      { minLength: 1, maxLength: 3 },
    ),
    numberOfMessages: byte,
    callbackNum: fc.array(
      bytes(19).filter(({ length }) => length > 2),
      { minLength: 1, maxLength: 3 },
    ),
    dpfResult: byte,
    setDpf: byte,
    msAvailabilityStatus: byte,
    networkErrorCode: fc
      .uint8Array({ minLength: 3, maxLength: 3 })
      .map((value) => Buffer.from(value)),
    messagePayload: bytes(2_000),
    deliveryFailureReason: byte,
    moreMessagesToSend: byte,
    messageState: byte,
    ussdServiceOp: byte,
    displayTime: byte,
    smsSignal: word,
    itsReplyType: byte,
    itsSessionInfo: fc
      .uint8Array({ minLength: 2, maxLength: 2 })
      .map((value) => Buffer.from(value)),
  },
  { requiredKeys: [] },
);

const COMMANDS = Object.keys(bodies) as Command[];

/** A PDU of any command, with its sequence number and TLVs, and status 0. */
export const arbitraryPdu: fc.Arbitrary<PduInput> = fc
  .constantFrom(...COMMANDS)
  .chain((command) =>
    fc
      .tuple(
        bodies[command] as fc.Arbitrary<object>,
        arbitraryTlvs,
        fc.integer({ min: 1, max: 0x7fff_ffff }),
      )
      .map(
        ([body, tlvs, sequence]) => ({ command, status: 0, sequence, tlvs, ...body }) as PduInput,
      ),
  );
