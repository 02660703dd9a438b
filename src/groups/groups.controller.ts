import { type ContactGroups, ContactsService, GroupNotFoundError } from '@dundun/messaging';
import { isGroupId, isPhoneNumber } from '@dundun/messaging/values';
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AccountId, Auth } from '../accounts/auth.guard.js';
import { GROUPS_SCOPE } from '../channel.js';
import { ApiError } from '../http/api-error.js';
import { Operation } from '../http/operation.decorator.js';
import { ListQuery, pageOf } from '../http/page.dto.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { AddMembers, Group, GroupBody, groupOf, GroupPage, MemberPage } from './groups.dto.js';

/** The id of a group in the path; a text that is not an id gets 404. */
export function GroupId(name = 'groupId'): ParameterDecorator {
  return Param(name, {
    transform: (value: string): string => {
      if (!isGroupId(value)) throw new GroupNotFoundError(value);
      return value;
    },
  });
}

/** Named lists of recipients; `to` of a batch accepts their ids and numbers. */
@Controller('ng/v1/groups')
@Auth('api_token', GROUPS_SCOPE)
@ApiTags('Groups')
export class GroupsController {
  readonly #groups: ContactGroups;

  constructor(private readonly contacts: ContactsService) {
    this.#groups = contacts.groups;
  }

  @Post()
  @Operation('Make a group', {
    description:
      'A group has contacts of the account; a send may name its id among the recipients.',
    status: 201,
    answer: Group,
    success: 'The group, without members.',
  })
  async createGroup(
    @AccountId() tenant: string,
    @JsonBody(GroupBody) { name }: GroupBody,
  ): Promise<Group> {
    return groupOf(await this.#groups.create(name, { tenant }));
  }

  @Get()
  @Operation('List groups', {
    description: 'Each with its name and the number of its members.',
    answer: GroupPage,
    success: 'A page of groups, by id.',
  })
  async listGroups(
    @AccountId() tenant: string,
    @ValidQuery(ListQuery) { cursor, limit }: ListQuery,
  ): Promise<GroupPage> {
    return pageOf(await this.#groups.list({ tenant, cursor, limit }), groupOf);
  }

  @Get(':groupId')
  @Operation('Read a group', {
    description: 'Its name and the number of its members; the members are a list of their own.',
    answer: Group,
    success: 'The group.',
  })
  async readGroup(@AccountId() tenant: string, @GroupId() id: string): Promise<Group> {
    return groupOf(await this.#groups.find(id, { tenant }));
  }

  @Patch(':groupId')
  @Operation('Rename a group', {
    description: 'The id and the members stay.',
    answer: Group,
    success: 'The group as it is now.',
  })
  async renameGroup(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @JsonBody(GroupBody) { name }: GroupBody,
  ): Promise<Group> {
    return groupOf(await this.#groups.rename(id, name, { tenant }));
  }

  @Delete(':groupId')
  @Operation('Delete a group', {
    description: 'Its members stay contacts. Batches that were accepted for it are still sent.',
    status: 204,
    success: 'The group is deleted.',
  })
  async deleteGroup(@AccountId() tenant: string, @GroupId() id: string): Promise<void> {
    await this.#groups.delete(id, { tenant });
  }

  @Post(':groupId/members')
  @Operation('Add members', {
    description:
      'Adds all or none. Existing members stay. A number that is no contact yet becomes one.',
    answer: Group,
    success: 'The group as it is now.',
  })
  async addMembers(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @JsonBody(AddMembers) { members }: AddMembers,
  ): Promise<Group> {
    await this.#groups.add(id, members, { tenant });
    return groupOf(await this.#groups.find(id, { tenant }));
  }

  @Get(':groupId/members')
  @Operation('List members', {
    description: 'The contacts in the group, each with its number and name.',
    answer: MemberPage,
    success: 'A page of members, in the order they became contacts.',
  })
  async listMembers(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @ValidQuery(ListQuery) { cursor, limit }: ListQuery,
  ): Promise<MemberPage> {
    const page = await this.#groups.members(id, { tenant, cursor, limit });
    return pageOf(page, ({ id: contact, phone, platform, name }) => ({
      id: contact,
      phone,
      bsuid: platform,
      name,
    }));
  }

  @Delete(':groupId/members/:member')
  @Operation('Remove a member', {
    description: 'By phone number or by the id in the list. The member stays a contact.',
    status: 204,
    success: 'The contact is not a member any more.',
  })
  async removeMember(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @Param('member') member: string,
  ): Promise<void> {
    const contact = await this.contacts.get(member.toLowerCase(), { tenant });
    const people = contact
      ? [{ addresses: contact.addresses }]
      : isPhoneNumber(member)
        ? [member]
        : [];
    // Runs also without people, because an unknown group has its own error.
    if ((await this.#groups.remove(id, people, { tenant })) === 0)
      throw new ApiError('not_found', 'There is no such member in this group');
  }
}
