import type { SimulatedOutcome, Simulation } from '../simulation.js';

/** Outcomes by the last four digits of the number. */
const OUTCOMES: Readonly<Record<string, SimulatedOutcome>> = {
  9901: outcome('reported', 'undelivered', 'UNDELIV', 'absent_subscriber'),
  9902: outcome('reported', 'expired', 'EXPIRED', 'validity_expired'),
  9903: outcome('refused', 'rejected', 'REJECTD', 'destination_refused'),
  9904: outcome('early'),
  9905: outcome('disordered'),
  9906: outcome('silent'),
  9907: outcome('throttled'),
  9908: outcome('lost'),
  9909: outcome('unreported'),
  9910: outcome('replying'),
};

function outcome(
  course: SimulatedOutcome['course'],
  status = 'delivered',
  rawStatus = 'DELIVRD',
  errorCode?: string,
): SimulatedOutcome {
  return { course, status, rawStatus, ...(errorCode !== undefined && { errorCode }) };
}

/** Raw statuses are SMPP's. */
export const SMS: Simulation = {
  outcomeOf: ({ value }) => OUTCOMES[value.slice(-4)] ?? outcome('reported'),
  underway: { status: 'sent', rawStatus: 'ACCEPTD' },
};
