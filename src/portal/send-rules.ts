import type { SendCheck } from '@dundun/dashboard';
import { Injectable } from '@nestjs/common';
import { TemplateRegistry } from '../accounts/templates.js';
import { ApiError, type ApiErrorCode } from '../http/api-error.js';
import { SenderRules } from './channel-senders.js';

/** Accounts send from the portal under the rules of the API. */
@Injectable()
export class SendRules {
  constructor(
    private readonly senders: SenderRules,
    private readonly templates: TemplateRegistry,
  ) {}

  /** Channels of the app's own have the check of their definition alone. @throws ApiError 422 */
  async check({ channel, tenant, from = '', content }: SendCheck): Promise<void> {
    if (tenant === '') throw new ApiError('insufficient_scope', 'Choose an account first');
    await this.senders.ofChannel.get(channel)?.check(tenant, from);
    if (content.kind === 'template') await this.#checkTemplate(tenant, content);
  }

  async #checkTemplate(tenant: string, content: SendCheck['content']): Promise<void> {
    const { template, language, params = [], category, paramNames = null } = content;
    const known =
      typeof template === 'string' && typeof language === 'string'
        ? await this.templates.find(tenant, template, language)
        : undefined;
    if (known?.status !== 'approved')
      throw refused('template_not_approved', 'template', 'must be an approved template');
    if (Array.isArray(params) && params.length !== known.params_count)
      throw refused(
        'template_params_mismatch',
        'params',
        `must have ${known.params_count} entries`,
      );
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
