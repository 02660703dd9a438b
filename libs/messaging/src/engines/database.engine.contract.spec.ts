import { describe, it } from '@jest/globals';
import { dispatchEngineContract } from '../testing/dispatch-engine.contract.js';
import { DatabaseEngine } from './database.engine.js';

dispatchEngineContract(
  'database',
  { create: () => ({ engine: new DatabaseEngine() }) },
  { describe, it },
);
