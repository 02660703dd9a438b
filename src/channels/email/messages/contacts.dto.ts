import type { ConsentState, Contact } from '@dundun/messaging';
import {
  Choice,
  Field,
  GROUP_ID,
  Objects,
  PHONE_NUMBER,
  PhoneNumber,
  RequiresOneOf,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../../../http/fields.js';
import { PageOf, PageQueryOf } from '../../../http/page.dto.js';
import { BodyExamples } from '../../../http/request.decorators.js';
import { AddressQuery, EMAIL_ADDRESS } from './email.dto.js';

const CONSENT_STATES = ['opted_in', 'opted_out'] as const satisfies readonly ConsentState[];

function ChannelName(): PropertyDecorator {
  return Text({
    pattern: '^[a-z][a-z0-9-]{0,15}$',
    message: 'must be a channel, such as email',
    examples: ['email'],
  });
}

function Category(): PropertyDecorator {
  return Text({
    optional: true,
    pattern: '^(?:\\*|[a-z][a-z0-9_-]{0,31})$',
    default: '*',
    description: '`transactional`, `marketing`, a category of the channel, or `*` for all.',
    message: 'must be a category, such as marketing',
    examples: ['marketing'],
  });
}

export class GivenEmailConsent {
  @ChannelName() readonly channel!: string;
  @Category() readonly category?: string;
  @Choice(CONSENT_STATES) readonly status!: ConsentState;
  @Text({ optional: true, minLength: 1, maxLength: 255, default: 'api' }) readonly source?: string;

  @Timestamp({ optional: true, description: 'When it was given; now where it is left out.' })
  readonly at?: string;

  @Text({ optional: true, maxLength: 10_000, description: 'The proof.' })
  readonly evidence?: string;
}

/** An omitted field does not change. */
@RequiresOneOf('email', 'phone', 'platform_id')
@BodyExamples({
  'opted in to marketing': {
    email: 'ada@example.com',
    name: 'Ada',
    consents: [{ channel: 'email', category: 'marketing', status: 'opted_in', source: 'web form' }],
  },
})
export class UpsertEmailContact {
  @Field({ ...EMAIL_ADDRESS, optional: true, description: 'The address alone.' })
  readonly email?: string;

  @PhoneNumber({ optional: true }) readonly phone?: string;

  @Field({ type: 'string', optional: true, maxLength: 255, description: 'An id of a platform.' })
  readonly platform_id?: string;

  @Text({ optional: true, maxLength: 255 }) readonly name?: string;

  @Objects(GivenEmailConsent, {
    optional: true,
    checked: true,
    maxItems: 20,
    description: 'Of each channel and category the consent with the latest `at` counts.',
    message: 'must be a list of at most 20 consents',
  })
  readonly consents?: readonly GivenEmailConsent[];
}

export class EmailContactsQuery extends PageQueryOf(1_000, 100) {
  @AddressQuery('The contact with this address.')
  readonly email?: string;
}

class EmailContactConsent {
  @Text({ examples: ['email'] }) readonly channel!: string;
  @Text({ description: '`*`: all categories.', examples: ['marketing'] })
  readonly category!: string;
  @Choice(CONSENT_STATES) readonly status!: ConsentState;
  @Timestamp() readonly at!: string;
  @Text({ examples: ['web form'] }) readonly source!: string;
}

const ONLY_WITH_SCOPE = 'Left out for a key without the scope `contacts:read`.';

export class EmailContact {
  @Uuid() readonly id!: string;
  @Text({ nullable: true, examples: ['Ada'] }) readonly name!: string | null;

  @Field({ type: 'array', items: { type: 'string' }, examples: [['ada@example.com']] })
  readonly emails!: readonly string[];

  @Field({ type: 'array', items: PHONE_NUMBER, optional: true, description: ONLY_WITH_SCOPE })
  readonly phones?: readonly string[];

  @Field({
    type: 'array',
    items: { type: 'string' },
    optional: true,
    description: ONLY_WITH_SCOPE,
    examples: [[]],
  })
  readonly platform_ids?: readonly string[];

  @Field({ type: [EmailContactConsent], optional: true, description: ONLY_WITH_SCOPE })
  readonly consents?: readonly EmailContactConsent[];

  @Field({ type: 'array', items: GROUP_ID, optional: true, description: ONLY_WITH_SCOPE })
  readonly groups?: readonly string[];

  @Timestamp() readonly created_at!: string;
}

export class EmailContactPage extends PageOf(EmailContact) {}

/** @param whole with all that a key with `contacts:read` may see */
export function emailContactOf(contact: Contact, whole: boolean): EmailContact {
  const { id, name, addresses, consents, groups, createdAt } = contact;
  const of = (kind: string) =>
    addresses.filter((address) => address.kind === kind).map(({ value }) => value);
  return {
    id,
    name,
    emails: of('email'),
    ...(whole && {
      phones: of('phone'),
      platform_ids: of('platform'),
      consents: Object.entries(consents).map(([scope, { state, at, source }]) => {
        const [channel = '', category = '*'] = scope.split(':');
        return { channel, category, status: state, at: at.toISOString(), source };
      }),
      groups,
    }),
    created_at: createdAt.toISOString(),
  };
}

export class EmailErasure {
  @WholeNumber({ minimum: 0, description: 'Messages that no longer name the person.' })
  readonly messages!: number;

  @WholeNumber({
    minimum: 0,
    description: 'Emails with a message in flight, which names the person until it ends.',
  })
  readonly remaining!: number;
}
