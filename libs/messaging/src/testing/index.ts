export {
  dispatchEngineContract,
  type EngineSetup,
  type EngineUnderTest,
} from './dispatch-engine.contract.js';
export {
  messageTransportContract,
  type TransportSetup,
  type TransportUnderTest,
} from './message-transport.contract.js';
export type { TestRunner } from './test-runner.js';
