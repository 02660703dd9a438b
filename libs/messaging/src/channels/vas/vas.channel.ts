import type { ChannelDefinition, ContentCheck } from '../../message/channel-definition.js';
import { STATUSES } from '../../message/status.js';
import { isVasOrder, type VasOrderContent } from '../../message/vas.js';

const { failed, rejected, delivered } = STATUSES;

/** Marks contents that `VasService` has checked, with their account, caps and reference. */
const checked = new WeakSet<object>();

function isChecked(content: object): content is VasOrderContent {
  return checked.has(content);
}

export function checkedOrder(content: VasOrderContent): VasOrderContent {
  checked.add(content);
  return content;
}

const orderAlone: ContentCheck = (given, errors) => {
  if (isChecked(given)) return { content: given };
  errors.push({ path: 'content', message: 'must come from VasService.order()' });
  return { content: { kind: 'text', text: '' } };
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
    order: true,
  },
  retention: 'exempt',
  irrevocable: { referenceOf: (content) => (isVasOrder(content) ? content.key : undefined) },
};
