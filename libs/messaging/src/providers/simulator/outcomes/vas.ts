import type { VasProduct } from '../../../message/vas.js';
import type { SimulatedOutcome, Simulation } from '../simulation.js';

const OUTCOMES: Readonly<Record<string, SimulatedOutcome>> = {
  9901: {
    course: 'reported',
    status: 'failed',
    rawStatus: 'FAILED',
    errorCode: 'operator_refused',
  },
  9902: {
    ...delivery('reported'),
    later: { status: 'reversed', rawStatus: 'REVERSED', errorCode: 'reversed_by_operator' },
  },
  9908: delivery('lost'),
  9909: delivery('unreported'),
};

function delivery(course: SimulatedOutcome['course']): SimulatedOutcome {
  return { course, status: 'delivered', rawStatus: 'SUCCESSFUL' };
}

const PRODUCTS: readonly VasProduct[] = [
  {
    id: 'airtime-ng',
    type: 'airtime',
    network: 'Simulated NG',
    name: 'Airtime',
    amount: null,
    min: '50',
    max: '50000',
    currency: 'NGN',
    validity: null,
  },
  {
    id: 'data-ng-1gb',
    type: 'data',
    network: 'Simulated NG',
    name: '1 GB',
    amount: '300',
    min: null,
    max: null,
    currency: 'NGN',
    validity: '30d',
  },
];

export const VAS: Simulation = {
  outcomeOf: ({ value }) => OUTCOMES[value.slice(-4)] ?? delivery('reported'),
  underway: { status: 'processing', rawStatus: 'PROCESSING' },
  products: PRODUCTS,
};
