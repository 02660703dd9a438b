import { Controller, Get } from '@nestjs/common';
import { AccountId, Auth } from '../accounts/auth.decorators.js';
import { type Template, TemplateRegistry } from '../accounts/template.registry.js';
import { Documented } from '../http/documented.decorator.js';
import { type PageAnswer, pageAnswer } from '../http/page-answer.js';
import { CURSOR, limit as limitUpTo } from '../http/schema.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { TemplatesQuery } from './whatsapp.dto.js';
import { WHATSAPP_EXAMPLES } from './whatsapp.examples.js';

/** A template on the wire. */
interface TemplateAnswer {
  readonly name: string;
  readonly language: string;
  readonly category: Template['category'];
  readonly status: Template['status'];
  readonly params_count: number;
}

/** What an account may start conversations with. */
@Controller('whatsapp/ng/v1/templates')
export class TemplatesController {
  constructor(private readonly templates: TemplateRegistry) {}

  @Get()
  @Auth('api_key', 'whatsapp:read')
  @Documented({
    operationId: 'listTemplates',
    summary: 'List templates',
    tag: 'WhatsApp',
    query: { cursor: CURSOR, limit: limitUpTo(1_000, 100) },
    answer: {
      status: 200,
      description: 'A page of templates, by name and language.',
      schema: 'TemplatePage',
      example: WHATSAPP_EXAMPLES.templates,
    },
  })
  async list(
    @AccountId() account: string,
    @ValidQuery(TemplatesQuery) query: TemplatesQuery,
  ): Promise<PageAnswer<TemplateAnswer>> {
    return pageAnswer(await this.templates.list(account, query), templateAnswer);
  }
}

function templateAnswer(template: Template): TemplateAnswer {
  const { name, language, category, status, paramsCount } = template;
  return { name, language, category, status, params_count: paramsCount };
}
