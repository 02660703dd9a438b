import { Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts.service.js';
import { TemplateRegistry } from '../../accounts/templates.js';
import { GatewayChannels, type SenderActions } from '../../channel.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { ApiError } from '../../http/api-error.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { AccountSenders } from '../../senders/account-senders.js';
import { type SenderOfAccount, SendersService } from '../../senders/senders.service.js';
import { Audit } from '../audit.js';
import { listedOf, PortalQuery, SenderBody, TemplateBody } from '../portal.dto.js';
import type { Listed, Sender, SenderKind, Senders, Template } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { Caller, Current, type InAccount } from '../portal-request.js';
import type { SignedIn } from '../sign-in/sessions.service.js';

/** @throws ApiError 404 where senders of the channel are not asked for */
export function askedSender(
  channels: GatewayChannels,
  accountId: string,
  { channel, sender }: { readonly channel: string; readonly sender: string },
): { readonly of: SenderOfAccount; readonly actions: SenderActions } {
  const actions = channels.find(channel)?.senders?.actions;
  if (!actions) throw new ApiError('not_found', 'There is no such sender ID');
  return { of: { accountId, channel, sender }, actions };
}

@PortalController('senders')
export class SendersController {
  readonly #approval: Senders['approval'];

  constructor(
    private readonly reader: AccountSenders,
    private readonly senders: SendersService,
    private readonly channels: GatewayChannels,
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
    const kinds: SenderKind[] = [];
    for (const { name: channel, senders: kind } of this.channels.all) {
      if (!kind) continue;
      const all = await this.reader.list(id, channel);
      kinds.push({ channel, one: kind.noun, ...kind.words, isAskedFor: kind.actions !== null });
      if (kind.actions) data.push(...all.map(({ sender, state }) => ({ channel, sender, state })));
      const approved = all.filter(({ state }) => state === 'approved');
      ofChannels[channel] = approved.map(({ sender }) => sender);
    }
    return { data, kinds, ofChannels, approval: this.#approval };
  }

  /** An operator's is approved at once. */
  @Post()
  @PortalAccess('admin')
  async add(
    @Caller() { accountId: id, actor }: InAccount,
    @Current() { user }: SignedIn,
    @JsonBody(SenderBody) { channel, sender }: SenderBody,
  ): Promise<Sender> {
    const { of, actions } = askedSender(this.channels, id, { channel, sender });
    if (this.#approval === 'auto' || user.isOperator) {
      await this.senders.add(of, this.audit.also(actor, actions.added, sender));
      return { channel, sender, state: 'approved' };
    }
    const also = this.audit.also(actor, actions.requested, sender);
    return { channel, sender, state: await this.senders.request(of, also) };
  }

  @Delete(':channel/:sender')
  @HttpCode(204)
  @PortalAccess('admin')
  async remove(
    @Caller() { accountId: id, actor }: InAccount,
    @Param('channel') channel: string,
    @Param('sender') sender: string,
  ): Promise<void> {
    const { of, actions } = askedSender(this.channels, id, { channel, sender });
    await this.senders.remove(of, this.audit.also(actor, actions.removed, sender));
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
      ({ name, language, category, status, params_count: paramsCount, paramNames, body }) => ({
        name,
        language,
        category,
        status,
        paramsCount,
        paramNames,
        body,
      }),
    );
  }

  @Post()
  @HttpCode(200)
  @PortalAccess('admin')
  async put(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(TemplateBody) { paramsCount, body: written = '', ...template }: TemplateBody,
  ): Promise<Template> {
    const also = this.audit.also(
      actor,
      'template.changed',
      `${template.name} ${template.language}`,
    );
    const body = written === '' ? null : written;
    await this.accounts.putTemplate(id, { ...template, params_count: paramsCount }, also, body);
    return { ...template, paramsCount, paramNames: null, body };
  }
}
