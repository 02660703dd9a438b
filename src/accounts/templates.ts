import type { FieldError, Page } from '@dundun/messaging';
import { templateBodyFault } from '@dundun/messaging/values';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { Matches } from 'class-validator';
import { DataSource, MoreThan } from 'typeorm';
import { invalidField } from '../http/api-error.js';
import { Choice, Field, WholeNumber } from '../http/fields.js';
import type { PageQuery } from '../http/page.dto.js';
import {
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  type TemplateCategory,
  TemplateEntity,
  type TemplateStatus,
} from './accounts.tables.js';
import { RowCache } from './row-cache.js';

const NAME = /^[\x21-\x7e]{1,255}$/;
const LANGUAGE = /^[A-Za-z]{2,8}(?:[_-][A-Za-z0-9]{2,8}){0,2}$/;

export function TemplateName(): PropertyDecorator {
  return Field(
    { type: 'string', minLength: 1, maxLength: 255, examples: ['order_update'] },
    Matches(NAME, { message: 'must be 1 to 255 visible ASCII characters without spaces' }),
  );
}

export function Language(): PropertyDecorator {
  return Field(
    { type: 'string', examples: ['en', 'pt_BR'] },
    Matches(LANGUAGE, { message: 'must be a language code, such as en or pt_BR' }),
  );
}

export class Template {
  @TemplateName() readonly name!: string;
  @Language() readonly language!: string;
  @Choice(TEMPLATE_CATEGORIES, { examples: ['utility'] }) readonly category!: TemplateCategory;

  @Choice(TEMPLATE_STATUSES, {
    description: 'Only an `approved` template can be sent.',
    examples: ['approved'],
  })
  readonly status!: TemplateStatus;

  @WholeNumber({ minimum: 0, maximum: 100, examples: [2] }) readonly params_count!: number;
}

/** Before every template. */
const FIRST = { name: '', language: '' };

@Injectable()
export class TemplateRegistry {
  readonly #templates: RowCache<TemplateEntity>;

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {
    this.#templates = new RowCache(dataSource, TemplateEntity, ['accountId', 'name', 'language']);
  }

  /** The caller has checked the form of name and language. */
  async find(
    accountId: string,
    name: string,
    language: string,
  ): Promise<TemplateEntity | undefined> {
    return this.#templates.find({ accountId, name, language });
  }

  /** Ordered by name, then language. */
  async list(accountId: string, { cursor, limit }: PageQuery): Promise<Page<TemplateEntity>> {
    const { name, language } = cursor === undefined ? FIRST : placeOf(cursor);
    const found = await this.dataSource.manager.find(TemplateEntity, {
      where: [
        { accountId, name: MoreThan(name) },
        { accountId, name, language: MoreThan(language) },
      ],
      order: { name: 'ASC', language: 'ASC' },
      take: limit + 1,
    });
    const data = found.slice(0, limit);
    const last = data.at(-1);
    return { data, nextCursor: found.length > limit && last ? cursorOf(last) : null };
  }

  forget(): void {
    this.#templates.clear();
  }
}

/** A template as the interface shows it. */
export function templateView({
  name,
  language,
  category,
  status,
  params_count,
}: TemplateEntity): Template {
  return { name, language, category, status, params_count };
}

function cursorOf({ language, name }: Pick<Template, 'language' | 'name'>): string {
  return `${language} ${name}`;
}

/** @throws ApiError 422 */
function placeOf(cursor: string): Pick<Template, 'name' | 'language'> {
  const [language = '', name = '', ...rest] = cursor.split(' ');
  if (!LANGUAGE.test(language) || !NAME.test(name) || rest.length > 0)
    throw invalidField('cursor', 'is not a cursor of this list; start again without it');
  return { name, language };
}

/** Why a message with these params cannot be sent, by the field; `undefined`: it can. */
export function paramsFault(
  { params_count: count, fixedLength }: TemplateEntity,
  params: readonly string[],
): FieldError | undefined {
  if (params.length !== count)
    return { path: 'params', message: `must have ${count} entries, not ${params.length}` };
  const fault = templateBodyFault(fixedLength, params);
  return fault && { path: `params[${fault.longest}]`, message: fault.message };
}
