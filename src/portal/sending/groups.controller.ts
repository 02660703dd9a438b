import {
  type Contact,
  type ContactGroup,
  type ContactGroups,
  ContactsService,
  MessagingService,
  type Page,
} from '@dundun/messaging';
import { csvOf, partialAddress } from '@dundun/messaging/values';
import { Delete, Get, HttpCode, Param, Patch, Post, StreamableFile } from '@nestjs/common';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { ApiError } from '../../http/api-error.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { GroupId } from '../../groups/groups.controller.js';
import { AddMembers, GroupBody } from '../../groups/groups.dto.js';
import { Audit } from '../audit.js';
import { listedOf, PortalQuery, RevealQuery } from '../portal.dto.js';
import type { Group, GroupMember, Listed } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { mayReveal, PortalAccess } from '../portal.guard.js';
import { Caller, type InAccount } from '../portal-request.js';

/** Members read together for a file. */
const PAGE = 1_000;

@PortalController('groups')
export class PortalGroupsController {
  readonly #groups: ContactGroups;

  constructor(
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
    private readonly audit: Audit,
  ) {
    this.#groups = contacts.groups;
  }

  @Get()
  @PortalAccess('viewer')
  async list(
    @Caller() { accountId: tenant }: InAccount,
    @ValidQuery(PortalQuery) { cursor, limit }: PortalQuery,
  ): Promise<Listed<Group>> {
    return listedOf(await this.#groups.list({ tenant, cursor, limit }), groupOf);
  }

  @Post()
  @PortalAccess('sender')
  create(
    @Caller() { accountId: tenant, actor }: InAccount,
    @JsonBody(GroupBody) { name }: GroupBody,
  ): Promise<Group> {
    return this.messaging.transaction(async (manager) => {
      const group = await this.#groups.create(name, { tenant, manager });
      await this.audit.record(manager, actor, 'group.created', group.id);
      return groupOf(group);
    });
  }

  @Get(':id')
  @PortalAccess('viewer')
  async read(
    @Caller() { accountId: tenant }: InAccount,
    @GroupId('id') id: string,
  ): Promise<Group> {
    return groupOf(await this.#groups.find(id, { tenant }));
  }

  @Patch(':id')
  @PortalAccess('sender')
  rename(
    @Caller() { accountId: tenant, actor }: InAccount,
    @GroupId('id') id: string,
    @JsonBody(GroupBody) { name }: GroupBody,
  ): Promise<Group> {
    return this.messaging.transaction(async (manager) => {
      const group = await this.#groups.rename(id, name, { tenant, manager });
      await this.audit.record(manager, actor, 'group.renamed', id);
      return groupOf(group);
    });
  }

  @Delete(':id')
  @HttpCode(204)
  @PortalAccess('sender')
  remove(
    @Caller() { accountId: tenant, actor }: InAccount,
    @GroupId('id') id: string,
  ): Promise<void> {
    return this.messaging.transaction(async (manager) => {
      await this.#groups.delete(id, { tenant, manager });
      await this.audit.record(manager, actor, 'group.deleted', id);
    });
  }

  @Get(':id/members')
  @PortalAccess('viewer')
  async members(
    @Caller() { accountId: tenant, role, actor }: InAccount,
    @GroupId('id') id: string,
    @ValidQuery(RevealQuery) { cursor, limit, reveal }: RevealQuery,
  ): Promise<Listed<GroupMember>> {
    const isWhole = mayReveal(reveal, role);
    const page = await this.#groups.members(id, { tenant, cursor, limit });
    if (isWhole)
      await this.messaging.transaction((manager) =>
        this.audit.record(manager, actor, 'group.revealed', id),
      );
    return listedOf(page, (contact) => memberOf(contact, isWhole));
  }

  @Post(':id/members')
  @HttpCode(200)
  @PortalAccess('sender')
  addMembers(
    @Caller() { accountId: tenant, actor }: InAccount,
    @GroupId('id') id: string,
    @JsonBody(AddMembers) { members }: AddMembers,
  ): Promise<Group> {
    return this.messaging.transaction(async (manager) => {
      await this.#groups.add(id, members, { tenant, manager });
      await this.audit.record(manager, actor, 'group.members_added', `${id}: ${members.length}`);
      return groupOf(await this.#groups.find(id, { tenant, manager }));
    });
  }

  @Delete(':id/members/:contactId')
  @HttpCode(204)
  @PortalAccess('sender')
  async removeMember(
    @Caller() { accountId: tenant, actor }: InAccount,
    @GroupId('id') id: string,
    @Param('contactId') contactId: string,
  ): Promise<void> {
    const contact = await this.contacts.get(contactId.toLowerCase(), { tenant });
    const people = contact ? [{ addresses: contact.addresses }] : [];
    await this.messaging.transaction(async (manager) => {
      if ((await this.#groups.remove(id, people, { tenant, manager })) === 0)
        throw new ApiError('not_found', 'There is no such member in this group');
      await this.audit.record(manager, actor, 'group.member_removed', `${id}: ${contactId}`);
    });
  }

  /** Every member with name and addresses, whole. */
  @Get(':id/members.csv')
  @PortalAccess('admin')
  async exportMembers(
    @Caller() { accountId: tenant, actor }: InAccount,
    @GroupId('id') id: string,
  ): Promise<StreamableFile> {
    await this.#groups.find(id, { tenant });
    await this.messaging.transaction((manager) =>
      this.audit.record(manager, actor, 'group.exported', id),
    );
    return new StreamableFile(Readable.from(this.#lines(id, tenant)), {
      type: 'text/csv; charset=utf-8',
      disposition: 'attachment; filename="members.csv"',
    });
  }

  async *#lines(id: string, tenant: string): AsyncGenerator<string> {
    yield 'phone,email,name\r\n';
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page: Page<Contact> = await this.#groups.members(id, { tenant, limit: PAGE, cursor });
      const rows = page.data.map(({ phone, email, name }) => [phone, email, name]);
      yield csvOf(rows);
      cursor = page.nextCursor;
      // On SQLite nothing else here waits.
      await turn();
    }
  }
}

function groupOf({ id, name, size, createdAt }: ContactGroup): Group {
  return { id, name, size, createdAt: createdAt.toISOString() };
}

function memberOf({ id, name, addresses }: Contact, isWhole: boolean): GroupMember {
  const shown = addresses.map((address) => (isWhole ? address.value : partialAddress(address)));
  return { id, name: isWhole ? name : name && `${name.slice(0, 1)}•••`, addresses: shown };
}
