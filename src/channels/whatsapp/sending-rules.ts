import type { MessageCategory } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { paramsFault, TemplateRegistry } from '../../accounts/templates.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { ApiError } from '../../http/api-error.js';
import { AccountSenders } from '../../senders/account-senders.js';
import type { SendTemplate } from './whatsapp.dto.js';

/** What the library has to know of a template. */
interface ApprovedTemplate {
  readonly category: MessageCategory;
  readonly paramNames: readonly string[] | undefined;
}

/** What an account may send on WhatsApp: from its number, with its approved templates. */
@Injectable()
export class SendingRules {
  constructor(
    private readonly senders: AccountSenders,
    private readonly templates: TemplateRegistry,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'carriers'>,
  ) {}

  /** The number that the account sends from. @throws ApiError 422 where it has none */
  async numberOf(account: string): Promise<string> {
    const number = await this.senders.firstOf(account, 'whatsapp');
    if (number === undefined)
      throw new ApiError('sender_not_registered', 'This account has no WhatsApp number');
    const ways = this.environment.carriers.of('whatsapp');
    const isBound = ways.length > 0 && ways.every(({ traits }) => traits.bindsNumbers);
    if (isBound && !(await this.senders.phoneNumberIdOf(number)))
      throw new ApiError(
        'sender_not_registered',
        'The WhatsApp number of this account is not bound to Meta; contact your provider',
      );
    return number;
  }

  /** @throws ApiError 422 where the template cannot be sent so */
  async templateOf(
    account: string,
    {
      template_name: name,
      language,
      params,
    }: Pick<SendTemplate, 'template_name' | 'language' | 'params'>,
  ): Promise<ApprovedTemplate> {
    const known = await this.templates.find(account, name, language);
    if (known?.status !== 'approved')
      throw new ApiError(
        'template_not_approved',
        `There is no approved template ${name} in ${language}`,
        { details: [{ path: 'template_name', message: 'must be an approved template' }] },
      );
    const fault = paramsFault(known, params);
    if (fault !== undefined) {
      const message = `${fault.path}: ${fault.message}, for the template ${name}`;
      throw new ApiError('template_params_mismatch', message, { details: [fault] });
    }
    return { category: known.category, paramNames: known.paramNames ?? undefined };
  }
}
