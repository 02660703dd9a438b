/** For a provider, an engine or a channel of an app, and for its metrics and traces. */
export type { AmbientTransaction } from './ports/ambient-transaction.js';
export type { CallbackMap } from './callbacks/callback-map.js';
export type {
  ChannelDefinition,
  ContentCheck,
  OneTimeCode,
  SuppressionRule,
} from './message/channel-definition.js';
export type { SimulatedOutcome, Simulation } from './providers/simulator/simulation.js';
export { ChannelRegistry } from './message/channel-registry.js';
export type {
  Attachment,
  AttachmentInfo,
  EmailContent,
  Personal,
} from './message/content/email-content.js';
export {
  AcceptRefusedError,
  BouncedFailure,
  DeferredFailure,
  GuardRefusedError,
  LostAnswerFailure,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  SpendBusyError,
  SpendRefusedError,
  type SpendRefusal,
  SubmitFailure,
  UncertainFailure,
  UnroutableFailure,
} from './message/errors.js';
export type {
  DeliveryReport,
  InboundMessage,
  InboundPreference,
  NotificationChange,
  ReportedSubmit,
} from './message/events.js';
export type { StatusDefinition } from './message/status.js';
export { personalised } from './message/variables.js';
export type { VasOrderContent } from './message/vas.js';
export type { VoiceContent } from './message/content/voice-content.js';
export type {
  MediaContent,
  MediaSource,
  MediaType,
  TemplateButton,
  TemplateHeader,
} from './message/content/whatsapp-content.js';
export {
  DISPATCH_ENGINE,
  type DispatchEngine,
  type Drain,
  type EngineContext,
  type EngineFactory,
} from './ports/dispatch-engine.js';
export {
  type ConnectionPlaces,
  type InboundMedia,
  type InboundSink,
  type HttpAnswer,
  type HttpRequester,
  type InjectedTransport,
  type MediaRequest,
  type ProviderMessage,
  type MediaUpload,
  MESSAGE_TRANSPORTS,
  type MessageTransport,
  MESSAGING_HTTP,
  type PartReport,
  type ProviderAccount,
  type ProviderBalance,
  type ReportSink,
  type SentSubmission,
  type Submission,
  type SubmissionAccepted,
  type TransportCapabilities,
  type TransportContext,
  type TransportSource,
} from './ports/message-transport.js';
export {
  type LaneReading,
  MESSAGING_METRICS,
  type MessagingMetrics,
  type PassReason,
  type QueueReading,
  type SubmitMeasurement,
} from './ports/metrics.js';
export {
  type GuardedBatch,
  type GuardedCancellation,
  type GuardedChange,
  type GuardedEnd,
  MESSAGING_SPEND_GUARD,
  type SpendGuard,
  type SpendReservation,
  type SpentAmount,
} from './ports/spend-guard.js';
export { ProviderCosts } from './ports/provider-costs.js';
export { MESSAGING_RATE_CARD, type Price, type RateCard } from './ports/rate-card.js';
export type { WitnessedReceipts } from './message/receipt-doubts.js';
export type { BestOptions } from './ports/best-options.js';
export type {
  GuardAction,
  GuardFinding,
  GuardLimit,
  GuardRule,
  GuardRules,
} from './ports/guard-options.js';
export type { Best } from './ports/route-options.js';
export { MESSAGING_TRACING, type MessagingTracing, type TracedStep } from './ports/tracing.js';
