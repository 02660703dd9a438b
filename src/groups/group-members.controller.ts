import { type Contact, ContactsService, isPhoneNumber, type PersonIds } from '@dundun/messaging';
import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { AccountId, Auth } from '../accounts/auth.decorators.js';
import { ApiError } from '../http/api-error.js';
import { Documented } from '../http/documented.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { type PageAnswer, pageAnswer } from '../http/page-answer.js';
import { CURSOR, limit as limitUpTo } from '../http/schema.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { MembersQuery, readMembers } from './group.dto.js';
import { GROUP_EXAMPLES } from './group.examples.js';
import { GroupId } from './group-id.js';
import { type GroupAnswer, groupAnswer, type MemberAnswer, memberAnswer } from './group.view.js';

/** Who is in a group. */
@Controller('ng/v1/groups/:groupId/members')
export class GroupMembersController {
  constructor(private readonly contacts: ContactsService) {}

  /** Those already in stay; who is no contact yet becomes one. */
  @Post()
  @HttpCode(200)
  @Auth('api_token')
  @Documented({
    operationId: 'addMembers',
    summary: 'Add members',
    description: 'All or none. Those already in stay; who is no contact yet becomes one.',
    tag: 'Groups',
    body: { schema: 'AddMembers', examples: GROUP_EXAMPLES.members },
    answer: {
      status: 200,
      description: 'The group as it is now.',
      schema: 'Group',
      example: GROUP_EXAMPLES.group,
    },
  })
  async add(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @JsonBody(readMembers) members: readonly string[],
  ): Promise<GroupAnswer> {
    const { groups } = this.contacts;
    await groups.add(id, members, { tenant });
    return groupAnswer(await groups.find(id, { tenant }));
  }

  @Get()
  @Auth('api_token')
  @Documented({
    operationId: 'listMembers',
    summary: 'List members',
    tag: 'Groups',
    query: { cursor: CURSOR, limit: limitUpTo(1_000, 100) },
    answer: {
      status: 200,
      description: 'A page of members, in the order they became contacts.',
      schema: 'MemberPage',
      example: GROUP_EXAMPLES.memberPage,
    },
  })
  async list(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @ValidQuery(MembersQuery) { cursor, limit }: MembersQuery,
  ): Promise<PageAnswer<MemberAnswer>> {
    const page = await this.contacts.groups.members(id, { tenant, cursor, limit });
    return pageAnswer(page, memberAnswer);
  }

  /** They stay a contact. */
  @Delete(':member')
  @HttpCode(204)
  @Auth('api_token')
  @Documented({
    operationId: 'removeMember',
    summary: 'Remove a member',
    description: 'By phone number or by the id in the list. They stay a contact.',
    tag: 'Groups',
    answer: { status: 204, description: 'They are no member.' },
  })
  async remove(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @Param('member') member: string,
  ): Promise<void> {
    const { groups } = this.contacts;
    const contact = await this.contacts.get(member.toLowerCase(), { tenant });
    const people = contact ? [idsOf(contact)] : isPhoneNumber(member) ? [member] : [];
    // Also where nobody is meant: a group that is not there is told first.
    if ((await groups.remove(id, people, { tenant })) === 0)
      throw new ApiError('not_found', 'There is no such member in this group');
  }
}

function idsOf({ phone, bsuid }: Contact): PersonIds {
  return { ...(phone !== null && { phone }), ...(bsuid !== null && { bsuid }) };
}
