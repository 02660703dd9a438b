import 'reflect-metadata';

export { AnyChannelService, type CostEstimate } from './channels/channel.service.js';
export { type SmsEstimate, type SmsMessage, SmsService } from './channels/sms/sms.service.js';
export { CallbackCounts } from './callbacks/callback-counts.js';
export type { EntryFilter } from './callbacks/callback-fields.js';
export {
  type CallbackMap,
  callbackParser,
  type InboundMap,
  type ReportMap,
} from './callbacks/callback-map.js';
export { africasTalkingParser } from './providers/africas-talking/africas-talking.js';
export { clickatellParser } from './providers/clickatell/clickatell.js';
export { infobipParser } from './providers/infobip/infobip.js';
export { standardWebhooks } from './providers/http/interface-callbacks.js';
export {
  kannelInboundParser,
  kannelParser,
  kannelSignature,
} from './providers/kannel/kannel-callbacks.js';
export { termiiParser } from './providers/termii/termii.js';
export {
  allOf,
  anyOf,
  basicAuth,
  hmacSignature,
  ipRanges,
  sharedSecret,
} from './callbacks/verifiers/verifiers.js';
export { plivoParser, plivoSignature } from './providers/plivo/plivo.js';
export type { Secrets } from './callbacks/verifiers/secret.js';
export { twilioParser, twilioSignature } from './providers/twilio/twilio.js';
export { vonageParser, vonageSignature } from './providers/vonage/vonage.js';
export {
  type WhatsAppEstimate,
  type WhatsAppKnownTemplate,
  type WhatsAppReceipt,
  WhatsAppService,
  type WhatsAppTemplate,
  type WhatsAppText,
} from './channels/whatsapp/whatsapp.service.js';
export type { ChannelMessage, ContentInput, Receipt, SendOptions } from './channels/send.js';
export type {
  Consent,
  ConsentEntry,
  ConsentState,
  Contact,
  ContactOptions,
  ErasureResult,
  NewContact,
  Person,
  SuppressionEntry,
} from './contacts/contact.js';
export { CONSENT_WORDS, consentWords } from './contacts/consent-words.js';
export { type ContactGroup, type ContactGroups, GroupNotFoundError } from './contacts/groups.js';
export type { CsvImport } from './contacts/contact-csv.js';
export { ContactsService } from './contacts/contacts.service.js';
export type { LaneHealth } from './store/reads/lane-queues.js';
export { MigrationLockedError } from './store/schema/migrator.js';
export { FREQUENCY_CAP_MIGRATIONS } from './store/schema/store.migration.js';
export { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from './messaging.schema.js';
export { isMessageCategory, type MessageCategory } from './message/category.js';
export {
  type Address,
  addressKey,
  type AddressKind,
  maskAddress,
  readAddress,
} from './message/address.js';
export type { DeliveryReport } from './message/delivery-report.js';
export {
  AlreadySentError,
  BatchNotFoundError,
  DatabaseShutdownTimeoutError,
  type FieldError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  MessageNotFoundError,
  MessageValidationError,
  MessagingConfigError,
  MessagingError,
  NoRouteError,
  TransactionRequiredError,
} from './message/errors.js';
export {
  BATCH_COMPLETED,
  type BatchCompleted,
  INBOUND_RECEIVED,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
} from './message/events.js';
export type { InboundMessage } from './message/inbound-message.js';
export {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from './message/failures.js';
export type { Channel, MessageClass, MessageContent } from './message/message.js';
export { isGroupId, type Recipients } from './message/recipients.js';
export { isPhoneNumber, maskPhoneNumber, normalisePhoneNumber } from './message/phone-number.js';
export { defineTemplates, type Template, type Templates } from './message/templates.js';
export { smsParts, type SmsParts } from './message/sms-parts.js';
export {
  type BatchStatus,
  type ChannelStatus,
  FIRST_REPORTED_RANK,
  type MessageStatus,
  type ReportedStatus,
  STATUS_RANK,
  type StatusDefinition,
} from './message/status.js';
export type {
  BatchView,
  MessageTimeline,
  MessageView,
  Page,
  ReportFilter,
  ReportView,
  StatusCounts,
  SubmittedMessage,
} from './message/views.js';
export { MessagingModule } from './messaging.module.js';
export { MessagingService } from './messaging.service.js';
export {
  type ExplainedMessage,
  PolicyError,
  PolicyGuard,
  PolicyService,
  type RecipientDenial,
  RequirePolicy,
} from './policy/policy.service.js';
export { ChannelRegistry } from './message/channel-registry.js';
export type {
  ChannelDefinition,
  ContentCheck,
  SimulatedFate,
} from './message/channel-definition.js';
export { type Clock, MESSAGING_CLOCK } from './ports/clock.js';
export type {
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
  ParsedCallback,
} from './ports/callback-parser.js';
export {
  DISPATCH_ENGINE,
  type DispatchEngine,
  type Drain,
  type EngineFactory,
  type EngineHealth,
} from './ports/dispatch-engine.js';
export { type Duration, milliseconds } from './ports/duration.js';
export {
  type InboundSink,
  MESSAGE_TRANSPORTS,
  type MessageTransport,
  type ReportSink,
  type SentSubmission,
  type Submission,
  type SubmissionAccepted,
  type TransportCapabilities,
  type TransportContext,
  type TransportFactory,
} from './ports/message-transport.js';
export type {
  CallbackOptions,
  ConsentReader,
  DispatchOptions,
  FrequencyCapOptions,
  InboundOptions,
  MessagingOptions,
  PolicyOptions,
  ProviderOptions,
  QuietHoursOptions,
} from './ports/messaging-options.js';
export {
  MESSAGING_POLICY,
  type MessagingPolicy,
  type PolicyDecision,
  type PolicyDecisions,
  type PolicyItem,
  type PolicyScope,
  type PolicySlice,
  type RecipientFacts,
} from './ports/messaging-policy.js';
export type { PolicyExplanation } from './policy/policy-pipeline.js';
export {
  MESSAGING_RATE_CARD,
  type Price,
  type PricedItem,
  type PriceList,
  type RateCard,
} from './ports/rate-card.js';
export { type RateLimit, rateOf } from './ports/rate-limit.js';
export {
  type InboundListener,
  MESSAGING_INBOUND_LISTENER,
  MESSAGING_STATUS_LISTENER,
  type StatusListener,
} from './ports/listeners.js';
export {
  MESSAGING_TRACING,
  type MessagingTracing,
  type TraceContext,
  type TracedStep,
} from './ports/tracing.js';
export { http } from './providers/http/http.transport.js';
export type { HttpTransportOptions } from './providers/http/http.options.js';
export type { KannelOptions } from './providers/kannel/kannel.options.js';
export { kannel } from './providers/kannel/kannel.transport.js';
export type { SimulatorOptions } from './providers/simulator/simulator.options.js';
export { simulator } from './providers/simulator/simulator.transport.js';
