import 'reflect-metadata';

export { callbackParser } from './callbacks/callback-map.js';
export {
  type CallbackCount,
  CallbackCounts,
  CallbacksService,
} from './callbacks/callbacks.service.js';
export {
  allOf,
  anyOf,
  basicAuth,
  hmacSignature,
  ipRanges,
  sharedSecret,
} from './callbacks/verifiers.js';
export { AnyChannelService, type CostEstimate } from './channels/channel.service.js';
export { typeOrmTransactional } from './ports/ambient-transaction.js';
export type { EmailAttachment } from './channels/email/email-attachments.js';
export {
  defineEmailTemplates,
  EmailRenderError,
  type EmailTemplate,
  type EmailTemplates,
} from './channels/email/email-templates.js';
export {
  type EmailEstimate,
  type EmailMessage,
  EmailService,
} from './channels/email/email.service.js';
export {
  type NewNotification,
  NotificationEndedError,
  type NotificationFallback,
  type NotificationMessages,
  NotificationNotFoundError,
  type NotificationReceipt,
  type NotificationSendOptions,
  type NotificationView,
} from './channels/notification/notification.js';
export { NotificationService } from './channels/notification/notification.service.js';
export { type Notifiable, Notification, Notifier } from './channels/notification/notifier.js';
export type { Receipt, SendOptions } from './channels/send.js';
export {
  type SmsEstimate,
  type SmsMessage,
  type SmsSendEstimate,
  SmsService,
} from './channels/sms/sms.service.js';
export {
  type VasAllowance,
  type VasOrder,
  VasOrderError,
  VasOrderNotFoundError,
  type VasOrderView,
  type VasReceipt,
  VasReferenceReusedError,
  type VasSettlement,
} from './channels/vas/vas-order.js';
export { VasService } from './channels/vas/vas.service.js';
export {
  type NewVerification,
  type StartedVerification,
  type Verification,
  VerificationLimitError,
  VerificationNotFoundError,
  type VerificationStatus,
  VerificationStoppedError,
} from './channels/verification/verification.js';
export { VerificationService } from './channels/verification/verification.service.js';
export type { CallFacts } from './channels/voice/call.js';
export {
  type CallEstimate,
  type CallView,
  type ListedCall,
  type VoiceMessage,
  VoiceService,
} from './channels/voice/voice.service.js';
export {
  type WhatsAppEstimate,
  type WhatsAppReceipt,
  WhatsAppService,
} from './channels/whatsapp/whatsapp.service.js';
export { consentWords } from './contacts/consent-words.js';
export type { CsvImport } from './contacts/contact-csv.js';
export type {
  ConsentEntry,
  ConsentState,
  Contact,
  ContactOptions,
  ErasureResult,
  NewContact,
  SuppressionEntry,
} from './contacts/contact.js';
export { ContactsService } from './contacts/contacts.service.js';
export { type ContactGroup, type ContactGroups, GroupNotFoundError } from './contacts/groups.js';
export { OnMessageStatus } from './message-status-handlers.js';
export {
  type Address,
  addressKey,
  type AddressKind,
  readAddress,
  type Recipients,
} from './message/address.js';
export {
  BatchNotFoundError,
  DatabaseShutdownTimeoutError,
  type FieldError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  MessageNotFoundError,
  MessageValidationError,
  MessagingConfigError,
  MessagingError,
  type MessagingErrorCode,
  NoRouteError,
  TransactionRequiredError,
} from './message/errors.js';
export { httpStatusOf } from './message/http-status.js';
export {
  BATCH_COMPLETED,
  type BatchCompleted,
  type CancelledBatch,
  INBOUND_RECEIVED,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  NOTIFICATION_DOUBLED,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
  type NotificationDoubled,
  type NotificationEnded,
  type NotificationFellBack,
  VAS_ORDER_OPEN,
  type VasOrderOpen,
} from './message/events.js';
export type { InboundContent } from './message/content/inbound-content.js';
export type {
  Channel,
  ConsentCategory,
  MessageCategory,
  MessageContent,
} from './message/message.js';
export {
  type BatchStatus,
  MESSAGE_STATUSES,
  type MessageStatus,
  REPORTED_STATUSES,
  type ReportedStatus,
} from './message/status.js';
export {
  defineTemplates,
  type PlatformTemplate,
  type Template,
  TemplateNotApprovedError,
  type TemplateStatusUpdate,
} from './message/templates.js';
export type { VasProduct } from './message/vas.js';
export type {
  BatchView,
  CancelledBatches,
  ListedBatch,
  ListedMessage,
  MessageFilter,
  MessageStats,
  MessageTimeline,
  MessageView,
  Page,
  ProviderHealth,
  ReportFilter,
  ReportView,
  StatsOptions,
  StatusCounts,
  SubmittedMessage,
} from './message/views.js';
export { MessagingModule } from './messaging.module.js';
export { MESSAGING_ENTITIES } from './messaging.schema.js';
export { MessagingService } from './messaging.service.js';
export type { PolicyExplanation } from './policy/policy-pipeline.js';
export { MessagingExceptionFilter } from './messaging-exception.filter.js';
export { PolicyError, PolicyService, RequirePolicy } from './policy/policy.service.js';
export type { CallbackOptions } from './ports/callback-options.js';
export type {
  CallbackAnswer,
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
  ParsedCallback,
} from './ports/callback-parser.js';
export { type Clock, MESSAGING_CLOCK } from './ports/clock.js';
export type { EngineHealth } from './ports/dispatch-engine.js';
export type { DispatchOptions } from './ports/dispatch-options.js';
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
export type { TransportFactory } from './ports/message-transport.js';
export type { InboundOptions, MessagingOptions } from './ports/messaging-options.js';
export {
  MESSAGING_POLICY,
  type MessagingPolicy,
  type PolicyDecision,
  type PolicyDecisions,
  type PolicyScope,
  type PolicySlice,
} from './ports/messaging-policy.js';
export type { PassedMessages } from './ports/metrics.js';
export type { Duration, RateLimit } from './ports/option-schema.js';
export type { PolicyOptions } from './ports/policy-options.js';
export type { PriceList } from './ports/rate-card.js';
export {
  best,
  type Cheapest,
  cheapest,
  type Failover,
  failover,
  type Route,
  type Weighted,
  weighted,
} from './ports/route-options.js';
export type { TraceContext } from './ports/tracing.js';
export { http } from './providers/http/http.transport.js';
export {
  type Simulator,
  simulator,
  simulatorOf,
} from './providers/simulator/simulator.transport.js';
export type { AlsoOption } from './store/database/sql.js';
export type { WriteHealth } from './store/database/write-watch.js';
export type { LaneHealth } from './store/reads/lane-queues.js';
