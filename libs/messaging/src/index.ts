import 'reflect-metadata';

export { CallbackCounts, CallbacksService } from './callbacks/callbacks.service.js';
export { type CallbackMap, callbackParser } from './callbacks/callback-map.js';
export {
  allOf,
  anyOf,
  basicAuth,
  hmacSignature,
  ipRanges,
  sharedSecret,
} from './callbacks/verifiers.js';
export { AnyChannelService } from './channels/channel.service.js';
export type { AlsoOption } from './store/database/sql.js';
export type { ChannelMessage, Receipt, SendOptions } from './channels/send.js';
export type { EmailAttachment } from './channels/email/email-attachments.js';
export type { EmailRecipient } from './channels/email/email-recipients.js';
export {
  type EmailEstimate,
  type EmailMessage,
  EmailService,
  type TemplateEmail,
} from './channels/email/email.service.js';
export {
  defineEmailTemplates,
  EmailRenderError,
  type EmailTemplate,
  type EmailTemplates,
  type RenderedEmail,
  type RenderEmail,
} from './channels/email/email-templates.js';
export type { SmsRecipient, SmsRecipients } from './channels/sms/sms-recipients.js';
export {
  type SmsEstimate,
  type SmsMessage,
  type SmsRecipientEstimate,
  type SmsSendEstimate,
  SmsService,
} from './channels/sms/sms.service.js';
export type { CallFacts } from './channels/voice/call.js';
export {
  type CallAt,
  type CallEstimate,
  type CallSpeech,
  type CallView,
  type ListedCall,
  type VoiceMessage,
  VoiceService,
} from './channels/voice/voice.service.js';
export {
  type SettleOptions,
  type VasAllowance,
  type VasOrder,
  VasOrderError,
  VasOrderNotFoundError,
  type VasOrderView,
  type VasReceipt,
  VasReferenceReusedError,
  type VasSettlement,
} from './channels/vas/vas-order.js';
export {
  type NewVerification,
  type StartedVerification,
  type Verification,
  VerificationLimitError,
  VerificationNotFoundError,
  type VerificationStartOptions,
  type VerificationStatus,
  VerificationStoppedError,
} from './channels/verification/verification.js';
export {
  type NewNotification,
  NotificationEndedError,
  type NotificationFallback,
  type NotificationMessages,
  NotificationNotFoundError,
  type NotificationReceipt,
  type NotificationRecipient,
  type NotificationSendOptions,
  type NotificationStep,
  type NotificationView,
} from './channels/notification/notification.js';
export { NotificationService } from './channels/notification/notification.service.js';
export { VerificationService } from './channels/verification/verification.service.js';
export { VasService } from './channels/vas/vas.service.js';
export {
  type WhatsAppKnownTemplate,
  type WhatsAppMedia,
  type WhatsAppReceipt,
  WhatsAppService,
  type WhatsAppTemplate,
  type WhatsAppText,
} from './channels/whatsapp/whatsapp.service.js';
export { CONSENT_WORDS, consentWords } from './contacts/consent-words.js';
export type {
  Consent,
  ConsentState,
  Contact,
  ContactOptions,
  NewContact,
  SuppressionEntry,
} from './contacts/contact.js';
export { ContactsService } from './contacts/contacts.service.js';
export { type ContactGroup, type ContactGroups, GroupNotFoundError } from './contacts/groups.js';
export { MessageHistory } from './history.service.js';
export {
  type DrainOptions,
  MessagingOperations,
  type OperationsFilter,
  type UnmatchedFilter,
  type PauseOptions,
  type Resent,
  type ResendOptions,
  type SettleMessageOptions,
} from './operations.service.js';
export {
  HoldsService,
  type InDoubt,
  NotRestoredError,
  type RestoredLane,
} from './holds.service.js';
export {
  type Address,
  addressKey,
  type AddressKind,
  isGroupId,
  isPhoneNumber,
  maskAddress,
  maskPhoneNumber,
  readAddress,
  type Recipients,
} from './message/address.js';
export type {
  ChannelDefinition,
  OneTimeCode,
  ContentCheck,
  SimulatedOutcome,
} from './message/channel-definition.js';
export { ChannelRegistry } from './message/channel-registry.js';
export type { BatchLabels } from './message/labels.js';
export { personalised } from './message/variables.js';
export { type MailboxInput, parseMailbox } from './message/mailbox.js';
export type {
  Attachment,
  AttachmentInfo,
  EmailContent,
  Mailbox,
  Personal,
} from './message/email-content.js';
export {
  AlreadySentError,
  BatchNotFoundError,
  BouncedFailure,
  ContentErasedError,
  DatabaseShutdownTimeoutError,
  DeferredFailure,
  DrainTimeoutError,
  type FieldError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  MessageNotFoundError,
  MessageStatusError,
  MessageValidationError,
  MessagingConfigError,
  MessagingError,
  type MessagingErrorCode,
  NoRouteError,
  PausedFailure,
  LostAnswerFailure,
  PausedUncertainFailure,
  PermanentFailure,
  type PolicyCode,
  RetryableFailure,
  SubmitFailure,
  TransactionRequiredError,
  UncertainFailure,
  UnroutableFailure,
} from './message/errors.js';
export {
  BATCH_COMPLETED,
  type BatchCompleted,
  type DeliveryReport,
  type EventLabels,
  INBOUND_RECEIVED,
  type InboundMessage,
  type InboundReceived,
  type FallbackReason,
  MESSAGE_STATUS_CHANGED,
  type CancelledBatch,
  type MessageStatusChanged,
  NOTIFICATION_DOUBLED,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
  type NotificationDoubled,
  type NotificationEnded,
  type NotificationFellBack,
  type NotificationStatus,
  type ReportedSubmit,
  VAS_ORDER_OPEN,
  type VasOrderOpen,
} from './message/events.js';
export {
  type BuiltInChannel,
  type Channel,
  type ConsentCategory,
  isMessageCategory,
  type MessageCategory,
  type MessageClass,
  type MessageContent,
} from './message/message.js';
export {
  defineTemplates,
  type PlatformTemplate,
  type PlatformTemplateStatus,
  type Template,
  TemplateNotApprovedError,
  type TemplateStatusUpdate,
} from './message/templates.js';
export type {
  MediaContent,
  MediaSource,
  MediaType,
  TemplateButton,
  TemplateHeader,
} from './message/whatsapp-content.js';
export { smsParts } from './message/sms-parts.js';
export type { VoiceContent } from './message/voice-content.js';
export {
  type BatchStatus,
  type ChannelStatus,
  MESSAGE_STATUSES,
  type MessageStatus,
  REPORTED_STATUSES,
  type ReportedStatus,
  type StatusDefinition,
} from './message/status.js';
export type { VasOrderContent, VasProduct } from './message/vas.js';
export type {
  BatchFilter,
  BatchView,
  CancelledBatches,
  Changes,
  HistoryFilter,
  HistoryStats,
  HistoryStatsOptions,
  InboundText,
  Latency,
  ListedMessage,
  MessageFilter,
  MessageRecord,
  MessageStats,
  MessageTimeline,
  Page,
  ProviderHealth,
  ReportFilter,
  ReportView,
  ResendView,
  StatsOptions,
  StatusCounts,
  SubmissionView,
  UnmatchedReport,
  SubmittedMessage,
  Tenants,
} from './message/views.js';
export { type MessageStatusFilter, OnMessageStatus } from './message-status-handlers.js';
export { MessagingModule } from './messaging.module.js';
export { MESSAGING_ENTITIES, MESSAGING_MIGRATIONS } from './messaging.schema.js';
export { MessagingService } from './messaging.service.js';
export type { PolicyExplanation } from './policy/policy-pipeline.js';
export {
  PolicyError,
  PolicyGuard,
  PolicyService,
  type RecipientDenial,
  RequirePolicy,
} from './policy/policy.service.js';
export type {
  CallbackAnswer,
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
  ParsedCallback,
} from './ports/callback-parser.js';
export { type Clock, MESSAGING_CLOCK } from './ports/clock.js';
export {
  DISPATCH_ENGINE,
  type DispatchEngine,
  type Drain,
  type EngineFactory,
  type EngineHealth,
} from './ports/dispatch-engine.js';
export {
  type ErasedAddress,
  type ErasureListener,
  type InboundListener,
  MESSAGING_ERASURE_LISTENER,
  MESSAGING_INBOUND_LISTENER,
  MESSAGING_STATUS_LISTENER,
  MESSAGING_TEMPLATE_LISTENER,
  type StatusListener,
  type TemplateListener,
} from './ports/listeners.js';
export {
  type ConnectionPlaces,
  type InboundSink,
  type MediaUpload,
  MESSAGE_TRANSPORTS,
  type MessageTransport,
  type ReportSink,
  type PartReport,
  type SentSubmission,
  type Submission,
  type SubmissionAccepted,
  type TransportCapabilities,
  type TransportContext,
  type InjectedTransport,
  type TransportFactory,
  type TransportSource,
} from './ports/message-transport.js';
export type { CallbackOptions } from './ports/callback-options.js';
export type {
  ConsentReader,
  InboundOptions,
  MessagingOptions,
  VerificationOptions,
} from './ports/messaging-options.js';
export type { DispatchOptions } from './ports/dispatch-options.js';
export type {
  FrequencyCapOptions,
  PolicyOptions,
  QuietHoursOptions,
} from './ports/policy-options.js';
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
export { type Duration, type RateLimit, rateOf } from './ports/option-schema.js';
export {
  type Failover,
  type Cheapest,
  cheapest,
  failover,
  type Route,
  type RouteUse,
  type Weighted,
  weighted,
} from './ports/route-options.js';
export {
  type LaneReading,
  MESSAGING_METRICS,
  type MessagingMetrics,
  type QueueReading,
  type SubmitMeasurement,
} from './ports/metrics.js';
export {
  MESSAGING_RATE_CARD,
  type Price,
  type PriceList,
  type RateCard,
} from './ports/rate-card.js';
export {
  MESSAGING_TRACING,
  type MessagingTracing,
  type TraceContext,
  type TracedStep,
} from './ports/tracing.js';
export { africasTalkingParser } from './providers/africas-talking/africas-talking.js';
export {
  africasTalking,
  type AfricasTalkingOptions,
} from './providers/africas-talking/africas-talking.transport.js';
export { clickatellParser } from './providers/clickatell/clickatell.js';
export { clickatell, type ClickatellOptions } from './providers/clickatell/clickatell.transport.js';
export type { HttpTransportOptions } from './providers/http/http.options.js';
export { http } from './providers/http/http.transport.js';
export { standardWebhooks } from './providers/http/interface-callbacks.js';
export { infobipParser } from './providers/infobip/infobip.js';
export { infobip, type InfobipOptions } from './providers/infobip/infobip.transport.js';
export {
  kannelInboundParser,
  kannelParser,
  kannelSignature,
} from './providers/kannel/kannel-callbacks.js';
export { kannel, type KannelOptions } from './providers/kannel/kannel.transport.js';
export { plivoParser, plivoSignature } from './providers/plivo/plivo.js';
export { plivo, type PlivoOptions } from './providers/plivo/plivo.transport.js';
export { reloadly, type ReloadlyOptions } from './providers/reloadly/reloadly.js';
export {
  type PlayedReport,
  type Simulator,
  simulator,
  simulatorOf,
  type SimulatorOptions,
} from './providers/simulator/simulator.transport.js';
export { termiiParser, termiiSignature } from './providers/termii/termii.js';
export { termii, type TermiiOptions } from './providers/termii/termii.transport.js';
export { twilioParser, twilioSignature } from './providers/twilio/twilio.js';
export { twilio, type TwilioOptions } from './providers/twilio/twilio.transport.js';
export { twilioVoiceParser } from './providers/twilio/twilio-calls.js';
export { twilioVoice, type TwilioVoiceOptions } from './providers/twilio/twilio-voice.transport.js';
export { vonageParser, vonageSignature } from './providers/vonage/vonage.js';
export { vonage, type VonageOptions } from './providers/vonage/vonage.transport.js';
export type { LaneDoubt, LaneHealth } from './store/reads/lane-queues.js';
export type { Hold, NewHold } from './store/rows/hold.js';
export {
  MigrationLockedError,
  NewerDatabaseError,
  refuseNewerDatabase,
  withMigrationLock,
} from './store/schema/migrator.js';
export { FREQUENCY_CAP_MIGRATIONS } from './store/schema/store.migration.js';
export { checkRoutes } from './routing/router.js';
