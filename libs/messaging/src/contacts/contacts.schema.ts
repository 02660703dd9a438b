import {
  ConsentEntity,
  ContactEntity,
  ContactGroupEntity,
  SuppressionEntity,
} from './entities/contacts.entities.js';
import { Contacts1700000000200 } from './migrations/contacts.migration.js';
import { InboundMessages1700000000320 } from './migrations/inbound.migration.js';

export const CONTACT_ENTITIES = [
  ContactEntity,
  ConsentEntity,
  ContactGroupEntity,
  SuppressionEntity,
];

export const CONTACT_MIGRATIONS = [Contacts1700000000200, InboundMessages1700000000320];
