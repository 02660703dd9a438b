import type { SimulatedOutcome, Simulation } from '../simulation.js';

const DELIVERED: SimulatedOutcome = {
  course: 'reported',
  status: 'delivered',
  rawStatus: 'delivered',
};

/** Outcomes by the local part of the address. */
const OUTCOMES: Readonly<Record<string, SimulatedOutcome>> = {
  bounced: { course: 'reported', ...bounce('recipient', 550, '5.1.1', 'No such user here') },
  full: { course: 'reported', ...bounce('mailbox_full', 552, '5.2.2', 'Mailbox is full') },
  blocked: { course: 'reported', ...bounce('block', 554, '5.7.1', 'Refused by policy') },
  complained: { ...DELIVERED, later: { status: 'complained', rawStatus: 'abuse' } },
  delayed: {
    ...DELIVERED,
    before: { status: 'delayed', rawStatus: 'delayed', errorCode: '4.7.1' },
  },
  rejected: {
    course: 'refused',
    status: 'rejected',
    rawStatus: 'refused',
    errorCode: 'address_refused',
  },
  lost: { ...DELIVERED, course: 'unknown' },
  'late-bounce': { ...DELIVERED, later: bounce('recipient', 550, '5.1.1', 'No such user here') },
  reply: { ...DELIVERED, course: 'replying' },
};

function bounce(category: string, code: number, enhanced: string, text: string) {
  return {
    status: 'bounced',
    rawStatus: 'failed',
    errorCode: enhanced,
    details: {
      category,
      smtp_code: code,
      enhanced_code: enhanced,
      diagnostic: `${code} ${enhanced} ${text}`,
      remote_mta: 'mx.simulator.test',
    },
  } as const;
}

export const EMAIL: Simulation = {
  outcomeOf: ({ value }) =>
    OUTCOMES[value.slice(0, value.lastIndexOf('@')).toLowerCase()] ?? DELIVERED,
  underway: { status: 'sent', rawStatus: 'relayed' },
  reply: 'Hello',
};
