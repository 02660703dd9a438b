import type { SenderKind } from '../../channel.js';
import { numberRemedy } from '../../http/fields.js';

export const CALLER_IDS: SenderKind = {
  noun: 'caller id',
  allowed: 'an approved caller id',
  field: 'caller',
  remedy: numberRemedy,
  error: 'caller_not_registered',
  drop: 'remove',
  first: 'by name',
  isExclusive: false,
  words: {
    icon: 'call',
    many: 'Caller ids',
    hint: '7 to 15 digits with country code',
    empty: 'Add the number that people who are called should see.',
  },
  actions: {
    added: 'caller.added',
    requested: 'caller.requested',
    approved: 'caller.approved',
    rejected: 'caller.rejected',
    removed: 'caller.removed',
  },
};
