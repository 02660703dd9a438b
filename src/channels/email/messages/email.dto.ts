import { Transform } from 'class-transformer';
import { readAddress } from '@dundun/messaging';
import {
  Choice,
  EMAIL_RULE,
  Field,
  type FieldOptions,
  GROUP_ID,
  Objects,
  RequiresOneOf,
  Text,
  Timestamp,
  Uuid,
} from '../../../http/fields.js';
import { MetadataOfSend, TagsOfSend } from '../../../http/label-fields.js';
import { PageQueryOf } from '../../../http/page.dto.js';
import { BodyExamples } from '../../../http/request.decorators.js';
import { errorsOf, isObject, MOST_ERRORS, Rule } from '../../../http/validation.js';

export const EMAIL_CATEGORIES = ['transactional', 'marketing'] as const;

export type EmailCategory = (typeof EMAIL_CATEGORIES)[number];

/** Fields of the library with another name in the interface. */
export const EMAIL_FIELDS = { replyTo: 'reply_to', unsubscribeUrl: 'unsubscribe_url' } as const;

export const EMAIL_STATUSES = [
  'queued',
  'sending',
  'unknown',
  'sent',
  'expired',
  'failed',
  'rejected',
  'delivered',
  'read',
  'bounced',
  'complained',
  'cancelled',
] as const;

const MAILBOX = {
  type: 'string',
  minLength: 3,
  maxLength: 1_024,
  description: '`ada@example.com` or `Ada <ada@example.com>`.',
  examples: ['Ada <ada@example.com>'],
} as const;

export const EMAIL_ADDRESS = {
  type: 'string',
  maxLength: 320,
  description: 'The address alone; empty after erasure.',
  examples: ['ada@example.com'],
} as const;

const TAG = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$', examples: ['welcome'] } as const;

const TEXTS = { type: 'object', additionalProperties: { type: 'string' } } as const;

export class EmailMailbox {
  @Field({ ...EMAIL_ADDRESS, description: 'The address alone.' }) readonly email!: string;
  @Field({ type: 'string', optional: true, maxLength: 255, examples: ['Ada'] })
  readonly name?: string;
}

export class EmailRecipient extends EmailMailbox {
  @Field({
    ...TEXTS,
    optional: true,
    description: 'Values of the `{{variables}}` in `subject`, `text` and `html`.',
    examples: [{ first: 'Ada' }],
  })
  readonly variables?: Readonly<Record<string, string>>;
}

export class EmailAttachment {
  @Field({ type: 'string', maxLength: 255, examples: ['invoice.pdf'] }) readonly filename!: string;

  @Field({
    type: 'string',
    description:
      'A media type with its parameters. `text/calendar` with a `method` is an invitation: it is an alternative of the text as well, so that mail programs show its buttons; a message has at most one.',
    examples: ['application/pdf', 'text/calendar; charset=utf-8; method=REQUEST'],
  })
  readonly content_type!: string;

  @Field({
    type: 'string',
    contentEncoding: 'base64',
    description: 'Base64 with padding, without line breaks. The gateway never fetches a URL.',
    examples: ['SGVsbG8='],
  })
  readonly content!: string;

  @Field({
    type: 'string',
    optional: true,
    maxLength: 128,
    description: 'Makes the attachment inline; the html names it as `cid:{content_id}`.',
    examples: ['logo'],
  })
  readonly content_id?: string;
}

interface MailboxesOptions extends FieldOptions {
  readonly maxItems?: number;
}

function Mailboxes({ maxItems = 50, ...options }: MailboxesOptions = {}): PropertyDecorator {
  return Objects(EmailMailbox, {
    orText: MAILBOX,
    optional: true,
    maxItems,
    message: `must be a list of at most ${maxItems} addresses, such as ["Ada <ada@example.com>"]`,
    ...options,
  });
}

/** The library checks the values. */
@RequiresOneOf('to', 'recipients')
@BodyExamples({
  'to visible recipients': {
    from: 'Shop <hello@demo.test>',
    to: ['Ada <ada@example.com>'],
    subject: 'Your order',
    text: 'It is on its way.',
    tags: ['order'],
    metadata: { order: '1001' },
  },
  'a copy for each': {
    from: { email: 'hello@demo.test', name: 'Shop' },
    recipients: [
      { email: 'ada@example.com', name: 'Ada', variables: { first: 'Ada' } },
      { email: 'bea@example.com', variables: { first: 'Bea' } },
    ],
    subject: 'News for {{first}}',
    html: '<p>Hello {{first}}</p>',
    category: 'marketing',
    send_at: '2030-01-31T09:00:00+01:00',
  },
  'with an attachment': {
    from: 'hello@demo.test',
    to: ['ada@example.com'],
    subject: 'Your invoice',
    text: 'It is attached.',
    attachments: [{ filename: 'a.txt', content_type: 'text/plain', content: 'SGVsbG8=' }],
  },
})
export class SendEmail {
  @Field(
    {
      anyOf: [MAILBOX, { $ref: '#/components/schemas/EmailMailbox' }],
      description: 'Its domain is a verified one of the account.',
    },
    Rule((value, _request, name) => {
      if (typeof value === 'string') return undefined;
      if (!isObject(value)) return 'must be an address, such as Shop <hello@shop.example>';
      const unknown = Object.keys(value).find((key) => key !== 'email' && key !== 'name');
      return unknown === undefined
        ? undefined
        : [{ path: `${name}.${unknown.slice(0, 64)}`, message: 'is not a field of an address' }];
    }),
  )
  readonly from!: string | EmailMailbox;

  @Mailboxes({ description: 'At most 50 together with `cc` and `bcc`. Everybody sees these.' })
  readonly to?: readonly (string | EmailMailbox)[];

  @Mailboxes({ description: 'Everybody sees these.' })
  readonly cc?: readonly (string | EmailMailbox)[];

  @Mailboxes({ description: 'No recipient sees these addresses.' })
  readonly bcc?: readonly (string | EmailMailbox)[];

  @Objects(EmailRecipient, {
    orText: { anyOf: [MAILBOX, GROUP_ID] },
    optional: true,
    description:
      'Instead of `to`, `cc` and `bcc`: each gets a copy of their own. Addresses and group ids, 1 to 100,000 after expansion.',
    message: 'must be a list of addresses and group ids',
  })
  readonly recipients?: readonly (string | EmailRecipient)[];

  @Mailboxes({ maxItems: 10 }) readonly reply_to?: readonly (string | EmailMailbox)[];

  @Field({ type: 'string', minLength: 1, maxLength: 998, examples: ['Your order'] })
  readonly subject!: string;

  @Field({
    type: 'string',
    optional: true,
    description: 'At most 5 MiB. Derived from `html` where it is left out; empty turns that off.',
    examples: ['It is on its way.'],
  })
  readonly text?: string;

  @Field({
    type: 'string',
    optional: true,
    description: 'At most 5 MiB. `text`, `html` or both.',
    examples: ['<p>It is on its way.</p>'],
  })
  readonly html?: string;

  @Objects(EmailAttachment, {
    optional: true,
    maxItems: 100,
    description: 'The whole message has at most 25 MiB, before its attachments are in base64.',
    message: 'must be a list of at most 100 attachments',
  })
  readonly attachments?: readonly EmailAttachment[];

  @Field({
    ...TEXTS,
    optional: true,
    description:
      '`In-Reply-To`, `References`, `List-Id`, `Auto-Submitted`, `Importance`, `X-Entity-Ref-ID` and `X-Priority`.',
    examples: [{ 'X-Entity-Ref-ID': '1001' }],
  })
  readonly headers?: Readonly<Record<string, string>>;

  @Choice(EMAIL_CATEGORIES, {
    optional: true,
    default: 'transactional',
    description: '`marketing` goes only to recipients who opted in.',
  })
  readonly category?: EmailCategory;

  @Field({
    type: 'string',
    optional: true,
    maxLength: 850,
    description: 'https URL of the one-click unsubscribe, with category marketing.',
    examples: ['https://shop.example/unsubscribe'],
  })
  readonly unsubscribe_url?: string;

  @TagsOfSend()
  readonly tags?: readonly string[];

  @MetadataOfSend()
  readonly metadata?: Readonly<Record<string, string>>;

  @Timestamp({
    optional: true,
    description: 'The message is not sent before; a past time means at once.',
  })
  readonly send_at?: string;
}

const MOST_MESSAGES = 1_000;
const MESSAGES_RULE = `must be a list of 1 to ${MOST_MESSAGES} messages`;

@BodyExamples({
  'two messages': {
    messages: [
      { from: 'hello@demo.test', to: ['ada@example.com'], subject: 'One', text: 'One' },
      { from: 'hello@demo.test', to: ['bea@example.com'], subject: 'Two', text: 'Two' },
    ],
  },
})
export class SendEmails {
  @Field(
    { type: [SendEmail], minItems: 1, maxItems: MOST_MESSAGES },
    Rule((list, _request, name) => {
      if (!Array.isArray(list) || list.length < 1 || list.length > MOST_MESSAGES)
        return MESSAGES_RULE;
      const errors = [];
      for (const [index, message] of (list as unknown[]).entries()) {
        if (errors.length >= MOST_ERRORS) break;
        const at = `${name}[${index}]`;
        if (!isObject(message)) errors.push({ path: at, message: 'must be a JSON object' });
        else
          for (const { path, message: remedy } of errorsOf(SendEmail, message))
            errors.push({ path: `${at}.${path}`, message: remedy });
      }
      return errors;
    }),
  )
  readonly messages!: readonly SendEmail[];
}

@BodyExamples({ later: { send_at: '2030-01-31T09:00:00+01:00' } })
export class RescheduleEmail {
  @Timestamp() readonly send_at!: string;
}

/** An address in a query, normalised as the store has it. */
export function AddressQuery(description: string): PropertyDecorator {
  return (target, key) => {
    Transform(
      ({ value }: { value: unknown }) =>
        (typeof value === 'string' && readAddress(value, ['email'])?.value) || null,
    )(target, key);
    Text({ ...EMAIL_ADDRESS, optional: true, description, message: EMAIL_RULE })(target, key);
  };
}

export class EmailsQuery extends PageQueryOf(200, 50) {
  @Uuid({ optional: true }) readonly reference_id?: string;
  @AddressQuery('Recipient.') readonly to?: string;
  @AddressQuery('Sender.') readonly from?: string;
  @Choice(EMAIL_STATUSES, { optional: true }) readonly status?: (typeof EMAIL_STATUSES)[number];
  @TagQuery() readonly tag?: string;
  @Timestamp({ optional: true, description: 'Accepted at or after this time.' })
  readonly since?: string;

  @Timestamp({ optional: true, description: 'Accepted before this time.' })
  readonly until?: string;
}

function TagQuery(): PropertyDecorator {
  return Text({
    ...TAG,
    optional: true,
    message: 'must be 1 to 64 letters, digits, dashes and underscores',
  });
}

export class EmailStatsQuery {
  @Timestamp({
    optional: true,
    description: 'At most 92 days before `until`; 7 days before it where it is left out.',
  })
  readonly since?: string;

  @Timestamp({ optional: true, description: 'Now where it is left out; may lie ahead.' })
  readonly until?: string;

  @Choice(['hour', 'day'], { optional: true, default: 'day', description: 'Of UTC.' })
  readonly interval: 'hour' | 'day' = 'day';

  @TagQuery() readonly tag?: string;

  @Text({
    optional: true,
    maxLength: 253,
    pattern: '^[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+$',
    description: 'Domain of the sender.',
    message: 'must be a domain, such as shop.example',
    examples: ['demo.test'],
  })
  readonly domain?: string;
}
