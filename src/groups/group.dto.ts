import { IsString } from 'class-validator';
import type { FieldError } from '@dundun/messaging';
import { invalidFields } from '../http/api-error.js';
import { PageOf } from '../http/page-query.js';
import { checkNumbers, checkUnknown } from '../http/request-fields.js';

/** Members one request may add. */
export const MOST_MEMBERS = 10_000;

/** `POST /ng/v1/groups`, `PATCH /ng/v1/groups/{id}` */
export class GroupBody {
  @IsString({ message: 'must be 1 to 255 characters' })
  readonly name!: string;
}

/** `GET /ng/v1/groups` */
export class GroupsQuery extends PageOf(1_000, 100) {}

/** `GET /ng/v1/groups/{id}/members` */
export class MembersQuery extends PageOf(1_000, 100) {}

const FIELDS = new Set(['members']);

/**
 * `POST /ng/v1/groups/{id}/members`
 * @throws ApiError 422 naming every wrong field, bad members as `members[3]` (the first ten)
 */
export function readMembers(request: Readonly<Record<string, unknown>>): readonly string[] {
  const errors: FieldError[] = [];
  const { members } = request;
  checkUnknown(request, FIELDS, errors);
  if (Array.isArray(members) && members.length > MOST_MEMBERS)
    errors.push({
      path: 'members',
      message: `must be at most ${MOST_MEMBERS}; send the rest next`,
    });
  else checkNumbers('members', members, errors);
  if (errors.length > 0) throw invalidFields(errors);
  return members as readonly string[];
}
