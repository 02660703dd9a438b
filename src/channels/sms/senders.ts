import type { SenderKind } from '../../channel.js';

export const SENDER_ID = /^(?=.*[A-Za-z])[0-9A-Za-z](?:[0-9A-Za-z ]{0,9}[0-9A-Za-z])?$/;

export const SENDER_ID_RULE =
  'must be 1 to 11 letters, digits and inner spaces with at least one letter, such as ACME';

export function isSenderId(value: unknown): value is string {
  return typeof value === 'string' && SENDER_ID.test(value);
}

export const SENDER_IDS: SenderKind = {
  noun: 'sender ID',
  allowed: 'an approved sender ID',
  field: 'sender',
  remedy: (sender) => (isSenderId(sender) ? undefined : SENDER_ID_RULE),
  error: 'sender_not_registered',
  drop: 'delete',
  first: 'by name',
  isExclusive: false,
  words: {
    icon: 'at',
    many: 'Sender IDs',
    hint: '1 to 11 letters and digits, with a letter',
    empty: 'Add the name that recipients of SMS should see, such as ACME.',
  },
  actions: {
    added: 'sender.added',
    requested: 'sender.requested',
    approved: 'sender.approved',
    rejected: 'sender.rejected',
    removed: 'sender.deleted',
  },
};
