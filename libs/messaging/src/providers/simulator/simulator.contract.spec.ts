import { describe, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { messageTransportContract } from '../../testing/index.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { simulator, type SimulatorTransport } from './simulator.transport.js';

// Sinks fail on purpose here.
Logger.overrideLogger(false);

const REFUSED = '2348012349903';

const setup = {
  start: async () => {
    const transport = simulator({ reportDelay: 1 })(transportContext()) as SimulatorTransport;
    return { transport, close: () => transport.beforeApplicationShutdown() };
  },
  recipient: (index: number) => String(2348012340000 + index),
  refused: { recipients: [REFUSED] },
  lostAnswer: { changes: { recipients: ['2348012349908'] }, settles: false },
  pushes: true,
  polls: true,
};

messageTransportContract(
  'simulator',
  { ...setup, sender: 'ACME', refusedRecipient: REFUSED },
  { describe, it },
);

const sender = '2348000000001';
messageTransportContract(
  'simulator, on WhatsApp',
  { ...setup, sender, changes: { channel: 'whatsapp', sender } },
  { describe, it },
);
