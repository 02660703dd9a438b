import { MessagingService, type Page } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { ApiError, invalidFields } from '../http/api-error.js';
import {
  Account,
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  type TemplateCategory,
  TemplateEntity,
  type TemplateStatus,
} from './accounts.tables.js';
import { FreshCache } from './fresh-cache.js';

/** A WhatsApp template in one language. */
export interface Template {
  readonly name: string;
  readonly language: string;
  readonly category: TemplateCategory;
  readonly status: TemplateStatus;
  readonly paramsCount: number;
}

const NAME = /^[\x21-\x7e]{1,255}$/;
const LANGUAGE = /^[A-Za-z]{2,8}(?:[_-][A-Za-z0-9]{2,8}){0,2}$/;
const MOST_PARAMS = 100;

export const TEMPLATE_NAME_RULE = 'must be 1 to 255 visible ASCII characters without spaces';
export const LANGUAGE_RULE = 'must be a language code, such as en or pt_BR';

export function isTemplateName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

export function isLanguage(value: unknown): value is string {
  return typeof value === 'string' && LANGUAGE.test(value);
}

/** The templates of an account; a cached one costs no database read. */
@Injectable()
export class TemplateRegistry {
  readonly #cache: FreshCache<Template>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
  ) {
    this.#cache = new FreshCache({ load: (keys) => this.#load(keys), keep: () => true });
  }

  /** The caller has checked the form of name and language. */
  find(accountId: string, name: string, language: string): Promise<Template | undefined> {
    return this.#cache.get(keyOf({ accountId, name, language }));
  }

  /** Ordered by name, then language. */
  async list(
    accountId: string,
    { cursor, limit }: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<Template>> {
    const query = this.dataSource.manager
      .createQueryBuilder(TemplateEntity, 't')
      .where('t.accountId = :accountId', { accountId })
      .orderBy('t.name')
      .addOrderBy('t.language')
      .take(limit + 1);
    if (cursor !== undefined) {
      const [language, name] = placeOf(cursor);
      query.andWhere('(t.name > :name OR (t.name = :name AND t.language > :language))', {
        name,
        language,
      });
    }
    const found = await query.getMany();
    const data = found.slice(0, limit).map(viewOf);
    const last = data.at(-1);
    const more = found.length > limit && last;
    return { data, nextCursor: more ? cursorOf(last) : null };
  }

  /** Registers the template, or updates it. @throws ApiError */
  async put(accountId: string, template: Template): Promise<void> {
    check(template);
    await this.messaging.transaction(async (manager) => {
      if (!(await manager.existsBy(Account, { id: accountId })))
        throw new ApiError('not_found', `There is no account ${accountId}`);
      const { name, language, category, status, paramsCount } = template;
      const key = { accountId, name, language };
      const { affected } = await manager.update(TemplateEntity, key, {
        category,
        status,
        paramsCount,
      });
      // MySQL counts changed rows only.
      if (!affected && !(await manager.existsBy(TemplateEntity, key)))
        await manager.insert(TemplateEntity, { ...template, accountId, createdAt: new Date() });
    });
    this.#cache.clear();
  }

  async #load(keys: readonly string[]): Promise<Map<string, Template>> {
    const asked = keys.map((key) => JSON.parse(key) as string[]);
    const found = await this.dataSource.manager.findBy(TemplateEntity, {
      accountId: In([...new Set(asked.map(([accountId]) => accountId))]),
      name: In([...new Set(asked.map(([, name]) => name))]),
      language: In([...new Set(asked.map(([, , language]) => language))]),
    });
    return new Map(found.map((template) => [keyOf(template), viewOf(template)]));
  }
}

type TemplateKey = Pick<TemplateEntity, 'accountId' | 'name' | 'language'>;

function keyOf({ accountId, name, language }: TemplateKey): string {
  return JSON.stringify([accountId, name, language]);
}

function viewOf({ name, language, category, status, paramsCount }: TemplateEntity): Template {
  return { name, language, category, status, paramsCount };
}

function cursorOf({ language, name }: Template): string {
  return Buffer.from(`${language} ${name}`).toString('base64url');
}

/** @throws ApiError 422 */
function placeOf(cursor: string): [string, string] {
  const [language, name, ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  if (!isLanguage(language) || !isTemplateName(name) || rest.length > 0)
    throw invalidFields([
      { path: 'cursor', message: 'is not a cursor of this list; start again without it' },
    ]);
  return [language, name];
}

function check({ name, language, category, status, paramsCount }: Template): void {
  const errors = [];
  if (!isTemplateName(name)) errors.push({ path: 'name', message: TEMPLATE_NAME_RULE });
  if (!isLanguage(language)) errors.push({ path: 'language', message: LANGUAGE_RULE });
  if (!TEMPLATE_CATEGORIES.includes(category))
    errors.push({ path: 'category', message: `must be one of ${TEMPLATE_CATEGORIES.join(', ')}` });
  if (!TEMPLATE_STATUSES.includes(status))
    errors.push({ path: 'status', message: `must be one of ${TEMPLATE_STATUSES.join(', ')}` });
  if (!Number.isInteger(paramsCount) || paramsCount < 0 || paramsCount > MOST_PARAMS)
    errors.push({ path: 'params', message: `must be a whole number from 0 to ${MOST_PARAMS}` });
  if (errors.length > 0) throw invalidFields(errors);
}
