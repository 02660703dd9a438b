export { COMMAND_STATUS, type CommandStatusName, commandStatusName } from './command-status.js';
export {
  type Command,
  COMMAND_ID,
  commandOf,
  type RequestCommand,
  type ResponseCommand,
  responseCommandOf,
} from './codec/commands.js';
export { decodeHeader, decodePdu } from './codec/decode.js';
export { encodePdu } from './codec/encode.js';
export { DEFAULT_MAX_PDU_LENGTH, FrameDecoder } from './codec/frame-decoder.js';
export type * from './codec/pdu.js';
export type { Tlvs, UnknownTlv } from './codec/tlvs.js';
export { type PduHeader, SmppDecodeError, SmppError, SmppValueError } from './errors.js';
export { canonicalMessageId, type MessageIdFormat, messageIdForms } from './message-id.js';
export {
  type DeliveryReceipt,
  isReceipt,
  MESSAGE_STATE,
  type MessageState,
  messageStateWord,
  messageStateOf,
  readReceipt,
  type ReceiptOptions,
  type ReceiptPdu,
  type ReceiptText,
  writeReceipt,
} from './receipt.js';
export {
  type Alphabets,
  DATA_CODING,
  decodeText,
  decodeUcs2,
  type DefaultAlphabet,
  type EncodedText,
  encodeLatin1,
  encodeText,
  encodeUcs2,
  type Encoding,
  encodingOf,
  encodingOfBytes,
} from './text/data-coding.js';
export { decodeGsm7, encodeGsm7, isGsm7 } from './text/gsm7.js';
export {
  type LongMessageMethod,
  type MessagePart,
  messageOf,
  type ReceivedMessage,
  splitMessage,
  type SplitOptions,
} from './text/long-message.js';
export { type AssemblerOptions, MessageAssembler } from './text/message-assembler.js';
export {
  type Concatenation,
  type HeaderElement,
  readUserDataHeader,
  UDHI,
  type UserDataHeader,
  writeConcatenation,
  writeUserDataHeader,
} from './text/user-data-header.js';
export { formatAbsoluteTime, formatRelativeTime, parseReceiptDate, parseSmppTime } from './time.js';
export { connectSmpp, type ConnectOptions } from './session/client.js';
export {
  type BindDecision,
  type SmppPeer,
  SmppServer,
  type SmppServerEvents,
  type SmppServerOptions,
} from './session/server.js';
export type { BindMode, Role } from './session/message-rights.js';
export { SmppSession } from './session/session.js';
export {
  type CloseReason,
  SmppBindError,
  SmppConnectError,
  SmppNoAnswerError,
  SmppNotSentError,
} from './session/session-errors.js';
export type {
  AnswerInput,
  AnswerOf,
  BindRequest,
  BoundSession,
  LateAnswer,
  MessageRequest,
  RequestHandlers,
  RequestOptions,
  SessionClosed,
  SessionEvents,
  SessionLimits,
  SessionOptions,
} from './session/session-options.js';
