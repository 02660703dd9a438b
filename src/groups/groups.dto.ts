import type { ContactGroup } from '@dundun/messaging';
import {
  Field,
  GROUP_ID,
  List,
  numberRemedy,
  PHONE_NUMBER,
  PhoneNumber,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../http/fields.js';
import { PageOf } from '../http/page.dto.js';
import { BodyExamples } from '../http/request.decorators.js';

const MOST_MEMBERS = 10_000;

@BodyExamples({ friends: { name: 'Friends' } })
export class GroupBody {
  @Text({ minLength: 1, maxLength: 255, examples: ['Friends'] }) readonly name!: string;
}

@BodyExamples({ two: { members: ['2348012345678', '2348012345679'] } })
export class AddMembers {
  @List({
    items: PHONE_NUMBER,
    minItems: 1,
    maxItems: MOST_MEMBERS,
    entry: numberRemedy,
    message: `must be a list of 1 to ${MOST_MEMBERS} phone numbers; send more in the next request`,
  })
  readonly members!: readonly string[];
}

export class Group {
  @Field(GROUP_ID) readonly id!: string;
  @Text({ minLength: 1, maxLength: 255, examples: ['Friends'] }) readonly name!: string;

  @WholeNumber({ minimum: 0, description: 'Number of members.', examples: [2] })
  readonly size!: number;

  @Timestamp() readonly created_at!: string;
}

export class GroupPage extends PageOf(Group) {}

export function groupOf({ id, name, size, createdAt }: ContactGroup): Group {
  return { id, name, size, created_at: createdAt.toISOString() };
}

class Member {
  @Uuid({ description: 'Id of the contact.' }) readonly id!: string;
  @PhoneNumber({ nullable: true }) readonly phone!: string | null;
  @Text({ nullable: true }) readonly bsuid!: string | null;
  @Text({ nullable: true, examples: ['Ada'] }) readonly name!: string | null;
}

export class MemberPage extends PageOf(Member) {}
