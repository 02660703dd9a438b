import type { SendCheck } from '@dundun/dashboard';
import { parseMailbox } from '@dundun/messaging/values';
import { Injectable } from '@nestjs/common';
import { paramsFault, TemplateRegistry } from '../../accounts/templates.js';
import { SenderDomains } from '../../channels/email/domains/sender-domains.js';
import { GatewayChannels } from '../../channel.js';
import { ApiError, type ApiErrorCode } from '../../http/api-error.js';
import { AccountSenders } from '../../senders/account-senders.js';

/** Accounts send from the portal under the rules of the API. */
@Injectable()
export class SendRules {
  constructor(
    private readonly senders: AccountSenders,
    private readonly channels: GatewayChannels,
    private readonly domains: SenderDomains,
    private readonly templates: TemplateRegistry,
  ) {}

  /** Channels of the app's own have the check of their definition alone. @throws ApiError 422 */
  async check({ channel, tenant, from = '', content }: SendCheck): Promise<void> {
    if (tenant === '')
      throw new ApiError(
        'insufficient_scope',
        'Name the account in the address: /portal/a/{account}/api/…',
      );
    await this.#checkSender(channel, tenant, from);
    if (content.kind === 'template') await this.#checkTemplate(tenant, content);
  }

  async #checkSender(channel: string, tenant: string, from: string): Promise<void> {
    const kind = this.channels.find(channel)?.senders;
    if (kind) {
      const { error, allowed } = kind;
      if (!(await this.senders.isApproved(tenant, channel, from)))
        throw refused(error, 'from', `must be ${allowed} of this account; see Senders`);
    } else if (channel === 'email') {
      const { email = '' } = parseMailbox(from) ?? {};
      const domain = email.slice(email.lastIndexOf('@') + 1);
      if (domain === '' || !(await this.domains.isVerified(tenant, domain)))
        throw refused(
          'domain_not_verified',
          'from',
          'must be of a verified domain of this account; see Email, Domains',
        );
    }
  }

  async #checkTemplate(tenant: string, content: SendCheck['content']): Promise<void> {
    const { template, language, params = [], category, paramNames = null } = content;
    const known =
      typeof template === 'string' && typeof language === 'string'
        ? await this.templates.find(tenant, template, language)
        : undefined;
    if (known?.status !== 'approved')
      throw refused('template_not_approved', 'template', 'must be an approved template');
    const fault = Array.isArray(params) ? paramsFault(known, params.map(String)) : undefined;
    if (fault !== undefined) throw refused('template_params_mismatch', fault.path, fault.message);
    // The platform refuses values without the names that it has for them.
    if (JSON.stringify(paramNames) !== JSON.stringify(known.paramNames))
      throw refused('invalid_field', 'paramNames', 'must be the names of the template');
    // Consent and price follow the category.
    if (category !== known.category)
      throw refused('invalid_field', 'category', `must be ${known.category}, as of the template`);
  }
}

function refused(code: ApiErrorCode, path: string, message: string): ApiError {
  return new ApiError(code, `${path}: ${message}`, { details: [{ path, message }] });
}
