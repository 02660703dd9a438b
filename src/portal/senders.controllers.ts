import { Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ChannelRegistry, MessagingService } from '@dundun/messaging';
import { AccountsService, type Also } from '../accounts/accounts.service.js';
import { TemplateRegistry } from '../accounts/templates.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { DoNotCallService } from '../voice/do-not-call.service.js';
import { type Actor, Audit, type AuditAction } from './audit.js';
import { SenderRules } from './channel-senders.js';
import { listedOf } from './listed.js';
import { maskedAddress } from './masking.js';
import type { DoNotCall, Listed, Sender, Senders, Template } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import {
  DoNotCallBody,
  DoNotCallQuery,
  PortalQuery,
  SenderBody,
  TemplateBody,
} from './portal.dto.js';
import { mayReveal, PortalAccess } from './portal.guard.js';
import { Caller, Current, type InAccount } from './portal-request.js';
import type { SignedIn } from './sessions.service.js';

@PortalController('senders')
export class SendersController {
  readonly #approval: Senders['approval'];

  constructor(
    private readonly senders: SenderRules,
    private readonly channels: ChannelRegistry,
    private readonly audit: Audit,
    @Inject(ENVIRONMENT) { SENDER_APPROVAL, NODE_ENV }: Environment,
  ) {
    this.#approval = SENDER_APPROVAL ?? (NODE_ENV === 'production' ? 'operator' : 'auto');
  }

  @Get()
  @PortalAccess('viewer')
  async list(@Caller() { accountId: id }: InAccount): Promise<Senders> {
    const data: Sender[] = [];
    const ofChannels: Record<string, readonly string[]> = {};
    for (const channel of this.channels.names) {
      const { approvals, list } = this.senders.ofChannel.get(channel) ?? {};
      for (const one of (await approvals?.list(id)) ?? [])
        data.push({ channel, sender: one.sender, state: one.state });
      if (list) ofChannels[channel] = await list(id);
    }
    return { data, ofChannels, approval: this.#approval };
  }

  /** An operator's is approved at once. */
  @Post()
  @PortalAccess('admin')
  async add(
    @Caller() { accountId: id, actor }: InAccount,
    @Current() { user }: SignedIn,
    @JsonBody(SenderBody) { channel, sender }: SenderBody,
  ): Promise<Sender> {
    const approvals = this.senders.approvalsOf(channel);
    const { added, requested } = approvals.audit;
    if (this.#approval === 'auto' || user.isOperator) {
      await approvals.add(id, sender, this.audit.also(actor, added, sender));
      return { channel, sender, state: 'approved' };
    }
    const also = this.audit.also(actor, requested, sender);
    return { channel, sender, state: await approvals.request(id, sender, also) };
  }

  @Delete(':channel/:sender')
  @HttpCode(204)
  @PortalAccess('admin')
  async remove(
    @Caller() { accountId: id, actor }: InAccount,
    @Param('channel') channel: string,
    @Param('sender') sender: string,
  ): Promise<void> {
    const approvals = this.senders.approvalsOf(channel);
    const also = this.audit.also(actor, approvals.audit.removed, sender);
    await approvals.remove(id, sender, { also });
  }
}

/** Numbers that get no marketing calls of the account. */
@PortalController('do-not-call')
export class DoNotCallController {
  constructor(
    private readonly numbers: DoNotCallService,
    private readonly messaging: MessagingService,
    private readonly audit: Audit,
  ) {}

  /** The number that the person asks for is whole. */
  @Get()
  @PortalAccess('viewer')
  async list(
    @Caller() { accountId: id, role, actor }: InAccount,
    @ValidQuery(DoNotCallQuery) { reveal, ...query }: DoNotCallQuery,
  ): Promise<Listed<DoNotCall>> {
    const isRevealed = mayReveal(reveal, role);
    if (isRevealed)
      await this.messaging.transaction((manager) =>
        this.audit.record(manager, actor, 'do_not_call.revealed'),
      );
    const isWhole = isRevealed || query.phone !== undefined;
    return listedOf(await this.numbers.list(id, query), ({ address, category, reason, at }) => ({
      phone: address ? (isWhole ? address.value : maskedAddress(address)) : '',
      category: category === '*' ? null : category,
      reason,
      createdAt: at.toISOString(),
    }));
  }

  @Post()
  @HttpCode(204)
  @PortalAccess('sender')
  async add(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(DoNotCallBody) { phone }: DoNotCallBody,
  ): Promise<void> {
    await this.numbers.add(id, phone, this.#also(actor, 'do_not_call.added', phone));
  }

  @Post('remove')
  @HttpCode(204)
  @PortalAccess('sender')
  async remove(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(DoNotCallBody) { phone }: DoNotCallBody,
  ): Promise<void> {
    await this.numbers.remove(id, phone, this.#also(actor, 'do_not_call.removed', phone));
  }

  #also(actor: Actor, action: AuditAction, value: string): Also {
    return this.audit.also(actor, action, maskedAddress({ kind: 'phone', value }));
  }
}

@PortalController('templates')
export class TemplatesController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly templates: TemplateRegistry,
    private readonly audit: Audit,
  ) {}

  @Get()
  @PortalAccess('viewer')
  async list(
    @Caller() { accountId: id }: InAccount,
    @ValidQuery(PortalQuery) query: PortalQuery,
  ): Promise<Listed<Template>> {
    return listedOf(
      await this.templates.list(id, query),
      ({ name, language, category, status, params_count: paramsCount, paramNames }) => ({
        name,
        language,
        category,
        status,
        paramsCount,
        paramNames,
      }),
    );
  }

  @Post()
  @HttpCode(200)
  @PortalAccess('admin')
  async put(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(TemplateBody) { paramsCount, ...template }: TemplateBody,
  ): Promise<Template> {
    const also = this.audit.also(
      actor,
      'template.changed',
      `${template.name} ${template.language}`,
    );
    await this.accounts.putTemplate(id, { ...template, params_count: paramsCount }, also);
    return { ...template, paramsCount, paramNames: null };
  }
}
