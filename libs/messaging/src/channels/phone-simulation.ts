import type { Simulation, SimulatedFate } from '../message/channel-definition.js';

const DELIVERED = { status: 'delivered', rawStatus: 'DELIVRD' };

/** Fates by the last four digits of the number; all other numbers get `delivered`. */
const FATES: ReadonlyMap<string, SimulatedFate> = new Map<string, SimulatedFate>([
  [
    '9901',
    {
      course: 'reported',
      status: 'undelivered',
      rawStatus: 'UNDELIV',
      errorCode: 'absent_subscriber',
    },
  ],
  [
    '9902',
    { course: 'reported', status: 'expired', rawStatus: 'EXPIRED', errorCode: 'validity_expired' },
  ],
  [
    '9903',
    {
      course: 'refused',
      status: 'rejected',
      rawStatus: 'REJECTD',
      errorCode: 'destination_refused',
    },
  ],
  ['9904', { course: 'early', ...DELIVERED }],
  ['9905', { course: 'disordered', ...DELIVERED }],
  ['9906', { course: 'silent', ...DELIVERED }],
  ['9907', { course: 'throttled', ...DELIVERED }],
  ['9908', { course: 'lost', ...DELIVERED }],
  ['9909', { course: 'vanished', ...DELIVERED }],
  ['9910', { course: 'replying', ...DELIVERED }],
]);

const REPORTED: SimulatedFate = { course: 'reported', ...DELIVERED };

/** The simulation of channels with phone numbers; raw statuses are those of SMPP. */
export const phoneSimulation: Simulation = {
  fateOf: ({ value }) => FATES.get(value.slice(-4)) ?? REPORTED,
  underway: { status: 'sent', rawStatus: 'ACCEPTD' },
};
