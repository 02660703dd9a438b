import type {
  ChannelDefinition,
  ContentCheck,
  SimulatedOutcome,
} from '../../message/channel-definition.js';
import { STATUSES } from '../../message/status.js';
import { isVasOrder, type VasOrderContent, type VasProduct } from '../../message/vas.js';

const { failed, rejected, delivered } = STATUSES;

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

const SIMULATED_PRODUCTS: readonly VasProduct[] = [
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

/** Marks contents that `VasService` has checked, with their account, caps and reference. */
const checked = new WeakSet<object>();

export function checkedOrder(content: VasOrderContent): VasOrderContent {
  checked.add(content);
  return content;
}

const orderAlone: ContentCheck = (given, errors) => {
  if (!checked.has(given))
    errors.push({ path: 'content', message: 'must come from VasService.order()' });
  return { content: given as unknown as VasOrderContent };
};

export const vasChannel: ChannelDefinition = {
  name: 'vas',
  title: 'VAS',
  addressKinds: ['phone'],
  statuses: {
    processing: { rank: 42, reported: true },
    failed,
    rejected,
    delivered,
    reversed: { rank: 106, terminal: true, reported: true, failed: true },
  },
  accepted: 'processing',
  content: { 'vas.airtime': orderAlone, 'vas.data': orderAlone },
  maxRecipients: 1,
  consent: { quietHours: [] },
  pricing: {},
  wire: {
    statusEvent: 'vas.order_status',
    identifiedBy: 'batch',
    order: true,
  },
  retention: 'exempt',
  irrevocable: { referenceOf: (content) => (isVasOrder(content) ? content.key : undefined) },
  simulate: {
    outcomeOf: ({ value }) => OUTCOMES[value.slice(-4)] ?? delivery('reported'),
    underway: { status: 'processing', rawStatus: 'PROCESSING' },
    products: SIMULATED_PRODUCTS,
  },
};
