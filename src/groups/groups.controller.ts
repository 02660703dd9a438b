import { type ContactGroups, ContactsService } from '@dundun/messaging';
import { Controller, Delete, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { AccountId, Auth } from '../accounts/auth.decorators.js';
import { Documented } from '../http/documented.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { type PageAnswer, pageAnswer } from '../http/page-answer.js';
import { CURSOR, limit as limitUpTo } from '../http/schema.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { validated } from '../http/validated.js';
import { GroupBody, GroupsQuery } from './group.dto.js';
import { GROUP_EXAMPLES } from './group.examples.js';
import { GroupId } from './group-id.js';
import { type GroupAnswer, groupAnswer } from './group.view.js';

const readGroup = (body: object): GroupBody => validated(GroupBody, body);

/** Named lists of recipients; their ids stand beside numbers in the `to` of a batch. */
@Controller('ng/v1/groups')
export class GroupsController {
  readonly #groups: ContactGroups;

  constructor(contacts: ContactsService) {
    this.#groups = contacts.groups;
  }

  @Post()
  @Auth('api_token')
  @Documented({
    operationId: 'createGroup',
    summary: 'Make a group',
    tag: 'Groups',
    body: { schema: 'GroupBody', examples: GROUP_EXAMPLES.body },
    answer: {
      status: 201,
      description: 'The group, without members.',
      schema: 'Group',
      example: { ...GROUP_EXAMPLES.group, size: 0 },
    },
  })
  async create(
    @AccountId() tenant: string,
    @JsonBody(readGroup) { name }: GroupBody,
  ): Promise<GroupAnswer> {
    return groupAnswer(await this.#groups.create(name, { tenant }));
  }

  @Get()
  @Auth('api_token')
  @Documented({
    operationId: 'listGroups',
    summary: 'List groups',
    tag: 'Groups',
    query: { cursor: CURSOR, limit: limitUpTo(1_000, 100) },
    answer: {
      status: 200,
      description: 'A page of groups, by id.',
      schema: 'GroupPage',
      example: GROUP_EXAMPLES.groups,
    },
  })
  async list(
    @AccountId() tenant: string,
    @ValidQuery(GroupsQuery) { cursor, limit }: GroupsQuery,
  ): Promise<PageAnswer<GroupAnswer>> {
    return pageAnswer(await this.#groups.list({ tenant, cursor, limit }), groupAnswer);
  }

  @Get(':groupId')
  @Auth('api_token')
  @Documented({
    operationId: 'readGroup',
    summary: 'Read a group',
    tag: 'Groups',
    answer: {
      status: 200,
      description: 'The group.',
      schema: 'Group',
      example: GROUP_EXAMPLES.group,
    },
  })
  async read(@AccountId() tenant: string, @GroupId() id: string): Promise<GroupAnswer> {
    return groupAnswer(await this.#groups.find(id, { tenant }));
  }

  @Patch(':groupId')
  @Auth('api_token')
  @Documented({
    operationId: 'renameGroup',
    summary: 'Rename a group',
    tag: 'Groups',
    body: { schema: 'GroupBody', examples: GROUP_EXAMPLES.body },
    answer: {
      status: 200,
      description: 'The group as it is now.',
      schema: 'Group',
      example: GROUP_EXAMPLES.group,
    },
  })
  async rename(
    @AccountId() tenant: string,
    @GroupId() id: string,
    @JsonBody(readGroup) { name }: GroupBody,
  ): Promise<GroupAnswer> {
    return groupAnswer(await this.#groups.rename(id, name, { tenant }));
  }

  /** What was accepted for it goes on. */
  @Delete(':groupId')
  @HttpCode(204)
  @Auth('api_token')
  @Documented({
    operationId: 'deleteGroup',
    summary: 'Delete a group',
    description: 'Its members stay contacts, and what was accepted for it goes on.',
    tag: 'Groups',
    answer: { status: 204, description: 'It is gone.' },
  })
  async remove(@AccountId() tenant: string, @GroupId() id: string): Promise<void> {
    await this.#groups.delete(id, { tenant });
  }
}
