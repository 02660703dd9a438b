import type { SuppressionEntry } from '@dundun/messaging';
import {
  Choice,
  emailRemedy,
  Field,
  type FieldOptions,
  Text,
  Timestamp,
  WholeNumber,
} from '../http/fields.js';
import { ListQuery, PageOf } from '../http/page.dto.js';
import { BodyExamples } from '../http/request.decorators.js';
import { errorsOf, isObject, Rule } from '../http/validation.js';

export const SUPPRESSION_REASONS = ['manual', 'hard_bounce', 'complaint', 'unsubscribe'] as const;
export const SUPPRESSION_CATEGORIES = ['transactional', 'marketing'] as const;

const MOST_ENTRIES = 1_000;

function Address(options: FieldOptions = {}): PropertyDecorator {
  return Field(
    { type: 'string', maxLength: 254, examples: ['ada@example.com'], ...options },
    Rule(emailRemedy),
  );
}

@BodyExamples({ address: { email: 'ada@example.com' } })
export class AddSuppression {
  @Address() readonly email!: string;

  @Choice(SUPPRESSION_REASONS, { optional: true, default: 'manual', examples: ['manual'] })
  readonly reason?: (typeof SUPPRESSION_REASONS)[number];

  @Choice(SUPPRESSION_CATEGORIES, {
    optional: true,
    description: 'Suppresses this category alone.',
    examples: ['marketing'],
  })
  readonly category?: (typeof SUPPRESSION_CATEGORIES)[number];
}

const TOO_MANY = `must be a list of 1 to ${MOST_ENTRIES} entries; send more in the next request`;

@BodyExamples({
  two: {
    suppressions: [{ email: 'ada@example.com' }, { email: 'ben@example.com', reason: 'complaint' }],
  },
})
export class ImportSuppressions {
  @Field(
    { type: [AddSuppression], minItems: 1, maxItems: MOST_ENTRIES },
    Rule((list, _request, name) => {
      if (!Array.isArray(list) || list.length < 1 || list.length > MOST_ENTRIES) return TOO_MANY;
      return list
        .flatMap((entry: unknown, n) => {
          if (!isObject(entry))
            return [{ path: `${name}[${n}]`, message: 'must be a JSON object' }];
          const errors = errorsOf(AddSuppression, entry);
          return errors.map(({ path, message }) => ({ path: `${name}[${n}].${path}`, message }));
        })
        .slice(0, 10);
    }),
  )
  readonly suppressions!: readonly AddSuppression[];
}

export class ImportedSuppressions {
  @WholeNumber({ minimum: 0, description: 'Entries of the request.', examples: [2] })
  readonly processed!: number;
}

export class SuppressionsQuery extends ListQuery {
  @Address({ optional: true, description: 'Only entries of this address.' })
  readonly email?: string;
}

class Suppression {
  @Address() readonly email!: string;

  @Text({
    description: '`hard_bounce`, `complaint`, `unsubscribe` or `manual`.',
    examples: ['hard_bounce'],
  })
  readonly reason!: string;

  @Text({ nullable: true, description: 'null: every category.', examples: [null] })
  readonly category!: string | null;

  @Text({
    nullable: true,
    description: 'The message that was the reason.',
    examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0'],
  })
  readonly message_id!: string | null;

  @Timestamp() readonly created_at!: string;
}

export class SuppressionPage extends PageOf(Suppression) {}

export function suppressionOf(entry: SuppressionEntry): Suppression {
  const { address, reason, category, messageId, at } = entry;
  return {
    email: address?.value ?? '',
    reason,
    category: category === '*' ? null : category,
    message_id: messageId,
    created_at: at.toISOString(),
  };
}
