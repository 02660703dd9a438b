import type { JsonSchema } from '../http/schema.js';
import {
  GROUP_ID,
  objectOf,
  pageOf,
  PHONE_NUMBER,
  PHONE_NUMBER_OR_NULL,
  TIME,
  UUID,
} from '../http/schema.js';
import { MOST_MEMBERS } from './group.dto.js';

const NAME: JsonSchema = { type: 'string', minLength: 1, maxLength: 255, examples: ['Friends'] };

/** Components of the groups surface. */
export const GROUP_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  GroupBody: objectOf({ name: NAME }),
  Group: objectOf({
    id: GROUP_ID,
    name: NAME,
    size: { type: 'integer', minimum: 0 },
    created_at: TIME,
  }),
  GroupPage: pageOf('Group'),
  AddMembers: objectOf({
    members: { type: 'array', minItems: 1, maxItems: MOST_MEMBERS, items: PHONE_NUMBER },
  }),
  Member: objectOf({
    id: { ...UUID, description: 'The contact.' },
    phone: PHONE_NUMBER_OR_NULL,
    bsuid: { type: ['string', 'null'] },
    name: { type: ['string', 'null'] },
  }),
  MemberPage: pageOf('Member'),
};
