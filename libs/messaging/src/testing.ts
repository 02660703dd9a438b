/** Tests of apps that send, and contract suites for one's own transports and engines. */
export { fakeService, NotFakedError, type PublicOf } from './kit/fake-service.js';
export { type ExpectedMessage, type MessagingMatchers, messagingMatchers } from './kit/matchers.js';
export { inMemoryDatabase } from './kit/memory-database.js';
export {
  MessagingTestingModule,
  type MessagingTestingOptions,
} from './kit/messaging-testing.module.js';
export {
  MessagingTester,
  NotSentYetError,
  type ReceivedMessage,
  type TesterClock,
  type TestReport,
} from './kit/messaging-tester.js';
export type { SentMessage } from './kit/outbox.js';
export {
  dispatchEngineContract,
  type EngineSetup,
  type EngineUnderTest,
  messageTransportContract,
  type TestRunner,
  type TransportSetup,
  type TransportUnderTest,
} from './testing/index.js';
