import { describe, it } from '@jest/globals';
import type { HttpService } from '@nestjs/axios';
import { Logger } from '@nestjs/common';
import { registryOf } from '../../channels/built-in-channels.js';
import { systemClock } from '../../ports/clock.js';
import { messageTransportContract } from '../../testing/index.js';
import { simulator, type SimulatorTransport } from './simulator.transport.js';

// Sinks fail on purpose here.
Logger.overrideLogger(false);

messageTransportContract(
  'simulator',
  {
    start: async () => {
      const transport = simulator({ reportDelay: 1 })({
        channels: registryOf(),
        http: {} as HttpService,
        clock: systemClock,
      }) as SimulatorTransport;
      return { transport, close: () => transport.beforeApplicationShutdown() };
    },
    sender: 'ACME',
    recipient: (index) => String(2348012340000 + index),
    refused: { recipients: ['2348012349903'] },
    refusedRecipient: '2348012349903',
    lostAnswer: { changes: { recipients: ['2348012349908'] }, settles: false },
    pushes: true,
    polls: true,
  },
  { describe, it },
);

messageTransportContract(
  'simulator, on WhatsApp',
  {
    start: async () => {
      const transport = simulator({ reportDelay: 1 })({
        channels: registryOf(),
        http: {} as HttpService,
        clock: systemClock,
      }) as SimulatorTransport;
      return { transport, close: () => transport.beforeApplicationShutdown() };
    },
    changes: { channel: 'whatsapp', sender: '2348000000001' },
    sender: '2348000000001',
    recipient: (index) => String(2348012340000 + index),
    refused: { recipients: ['2348012349903'] },
    lostAnswer: { changes: { recipients: ['2348012349908'] }, settles: false },
    pushes: true,
    polls: true,
  },
  { describe, it },
);
