import type { NotificationReceipt, NotificationView } from '@dundun/messaging';
import type { Type } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { type Cost, costFields } from '../billing/charging/message-costs.js';
import type { ChannelNotification, GatewayChannel } from '../channel.js';
import {
  ChargedPrice,
  Choice,
  emailRemedy,
  errorsWithin,
  Field,
  Nested,
  numberRemedy,
  PHONE_NUMBER,
  PhoneNumber,
  type Plain,
  PriceCurrency,
  Text,
  Timestamp,
  Uuid,
} from '../http/fields.js';
import { MetadataOfSend, TagsOfSend } from '../http/label-fields.js';
import { PageOf, PageQueryOf } from '../http/page.dto.js';
import { BodyExamples } from '../http/request.decorators.js';
import { isObject, Rule } from '../http/validation.js';

const EMAIL_ADDRESS = { type: 'string', maxLength: 320, examples: ['ada@example.com'] } as const;

class NotificationAddresses {
  @PhoneNumber({ optional: true }) readonly phone?: string;
  @Field({ ...EMAIL_ADDRESS, optional: true }, Rule(emailRemedy)) readonly email?: string;
}

class NotificationFallback {
  @Text({
    optional: true,
    pattern: '^[1-9][0-9]{0,5}(s|m|h|d)$',
    message: "must be a duration, such as '2m'",
    description:
      'How long each channel but the last has, from its message’s acceptance or `send_at`. A message that has not started by then never starts. Left out: only a message that failed falls back.',
    examples: ['2m'],
  })
  readonly after?: `${number}${'s' | 'm' | 'h' | 'd'}`;

  @Choice(['sent', 'delivered'], {
    optional: true,
    default: 'sent',
    description:
      'What keeps the next channel from taking over after that time. `sent`: the message was sent, or may have been. `delivered`: only a report that it arrived; a late report then means that the recipient got it twice.',
  })
  readonly unless?: 'sent' | 'delivered';
}

/** The fields of every notification. */
@ApiExtraModels(NotificationAddresses)
export class NotificationFields {
  @Field(
    {
      anyOf: [
        PHONE_NUMBER,
        EMAIL_ADDRESS,
        { $ref: `#/components/schemas/${NotificationAddresses.name}` },
      ],
      description: 'One person: an address that all channels take, or one of each kind.',
    },
    Rule((value, _request, name) => {
      if (isObject(value)) return errorsWithin(name, NotificationAddresses, value);
      const isEmail = typeof value === 'string' && value.includes('@');
      return isEmail ? emailRemedy(value) : numberRemedy(value);
    }),
  )
  readonly to!: string | NotificationAddresses;

  readonly via!: readonly [string, ...string[]];

  @Nested(NotificationFallback, {
    optional: true,
    description: 'When the next channel takes over from a message that has not failed.',
  })
  readonly fallback?: NotificationFallback;

  @Timestamp({
    optional: true,
    description: 'The first message is not sent before; a past time means at once.',
  })
  readonly send_at?: string;

  @TagsOfSend() readonly tags?: readonly string[];
  @MetadataOfSend() readonly metadata?: Readonly<Record<string, string>>;
}

/** Requests and answers with the fields of these channels. */
export function notificationDtos(channels: readonly GatewayChannel[]): {
  readonly request: Type<NotificationFields>;
  readonly estimate: Type<object>;
} {
  const parts = channels.flatMap(({ name, notification }) =>
    notification ? [[name, notification] as const] : [],
  );
  class SendNotification extends NotificationFields {}
  class NotificationEstimate {}
  BodyExamples(examplesOf(parts))(SendNotification);
  const names = parts.map(([name]) => name);
  declare(SendNotification, 'via', Array, Via(names));
  for (const [name, { message, estimate }] of parts) {
    const description = `The message for \`${name}\`, where \`via\` names it.`;
    declare(SendNotification, name, message, Nested(message, { optional: true, description }));
    declare(NotificationEstimate, name, estimate, Field({ type: estimate, optional: true }));
  }
  return { request: SendNotification, estimate: NotificationEstimate };
}

/** Declares a field, as the compiler does for one with a decorator. */
function declare(dto: Type<object>, name: string, type: Type<unknown>, field: PropertyDecorator) {
  const prototype = dto.prototype as object;
  Reflect.defineMetadata('design:type', type, prototype, name);
  field(prototype, name);
}

/** The channels in their order; each has its message in the field of its name. */
function Via(known: readonly string[]): PropertyDecorator {
  const remedy = `must be one of ${known.join(', ')}`;
  return Field(
    {
      type: 'array',
      items: { type: 'string', enum: known },
      minItems: 1,
      maxItems: known.length,
      uniqueItems: true,
      description:
        'The channels in their order. The next one takes over where policy denies a message, or it fails.',
      examples: [known],
    },
    Rule((list, request, name) => {
      if (!Array.isArray(list) || list.length === 0 || list.length > known.length)
        return `must be a list of 1 to ${known.length} channels, such as ${JSON.stringify(known.slice(0, 2))}`;
      const via = new Set<unknown>(list);
      return [
        ...list.flatMap((channel: unknown, index) =>
          known.some((one) => one === channel)
            ? []
            : { path: `${name}[${index}]`, message: remedy },
        ),
        ...known.flatMap((channel) => {
          const isGiven = request[channel] !== undefined;
          if (isGiven === via.has(channel)) return [];
          const message = isGiven ? 'goes with a channel of via alone' : 'is missing: via names it';
          return { path: channel, message };
        }),
      ];
    }),
  );
}

function examplesOf(parts: readonly (readonly [string, ChannelNotification])[]) {
  const messageOf = ([name, { example }]: (typeof parts)[number]) => [name, example];
  const first = parts.slice(0, 1);
  return {
    'on one channel': {
      to: '2348012345678',
      via: first.map(([name]) => name),
      ...Object.fromEntries(first.map(messageOf)),
    },
    'on all channels': {
      to: { phone: '2348012345678', email: 'ada@example.com' },
      via: parts.map(([name]) => name),
      fallback: { after: '2m', unless: 'delivered' },
      ...Object.fromEntries(parts.map(messageOf)),
    },
  };
}

const MESSAGE_ID = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0';

export class SendNotificationAnswer {
  @Field({ type: 'integer', const: 200 }) readonly status_code!: 200;
  @Text({ examples: ['Your request is being processed'] }) readonly message!: string;
  @Uuid() readonly notification_id!: string;

  @Text({ description: 'The first channel that policy allows.', examples: ['whatsapp'] })
  readonly channel!: string;

  @Text({
    description:
      'The message there. Callbacks have it as `message_id`, of WhatsApp as `reference_id`; without its `-0` it is the `reference_id` of an SMS.',
    examples: [MESSAGE_ID],
  })
  readonly message_id!: string;

  @Timestamp() readonly created_at!: string;
}

export function sendAnswerOf(receipt: NotificationReceipt): Plain<SendNotificationAnswer> {
  const { id, channel, messageId, createdAt } = receipt;
  return {
    status_code: 200,
    message: 'Your request is being processed',
    notification_id: id,
    channel,
    message_id: messageId,
    created_at: createdAt.toISOString(),
  };
}

class NotificationStep {
  @Text({ examples: ['whatsapp'] }) readonly channel!: string;

  @Text({
    description:
      'Status of its message. `denied`: policy denied it. `waiting`: it has not begun. `unused`: it never will.',
    examples: ['delivered'],
  })
  readonly status!: string;

  @Text({ nullable: true, description: 'null: it has none.', examples: [MESSAGE_ID] })
  readonly message_id!: string | null;

  @Text({ nullable: true, description: 'Of the message, or the code of the policy.' })
  readonly error_code!: string | null;

  @Timestamp({ nullable: true, description: 'null: it has not begun.' })
  readonly started_at!: string | null;

  @Choice(['denied', 'failed', 'not_started', 'not_delivered'], {
    nullable: true,
    description: 'Why it took over from the step before; null: it did not.',
    examples: [null],
  })
  readonly reason!: string | null;

  @ChargedPrice() readonly cost!: number | null;
  @PriceCurrency() readonly currency!: string | null;
}

export class Notification {
  @Uuid() readonly notification_id!: string;

  @Choice(['pending', 'delivered', 'failed', 'undecided', 'cancelled'], {
    examples: ['delivered'],
    description:
      '`undecided`: no report decides it. A report after the end may still raise the status.',
  })
  readonly status!: NotificationView['status'];

  @Field({ type: [NotificationStep], description: 'One for each channel, in their order.' })
  readonly steps!: readonly NotificationStep[];

  @Field({
    type: 'array',
    items: { type: 'string' },
    description: 'The channels whose messages arrived; with two, the recipient got it twice.',
    examples: [['whatsapp']],
  })
  readonly delivered_by!: readonly string[];

  @Timestamp() readonly created_at!: string;
  @Timestamp({ nullable: true, description: 'null: it is pending.' })
  readonly ended_at!: string | null;
}

export class NotificationsQuery extends PageQueryOf(200, 50) {}

export class NotificationPage extends PageOf(Notification) {}

/** Batches of the messages of notifications. */
export function batchesOf(views: readonly NotificationView[]): string[] {
  return views.flatMap(({ steps }) => steps.flatMap((step) => batchOf(step) ?? []));
}

function batchOf({ messageId }: NotificationView['steps'][number]): string | undefined {
  return messageId?.replace(/-\d+$/, '');
}

/** @param costs by batch */
export function notificationOf(
  view: NotificationView,
  costs: ReadonlyMap<string, Cost>,
): Plain<Notification> {
  return {
    notification_id: view.id,
    status: view.status,
    steps: view.steps.map((step) => ({
      channel: step.channel,
      status: step.status,
      message_id: step.messageId,
      error_code: step.errorCode,
      started_at: step.startedAt?.toISOString() ?? null,
      reason: step.reason,
      ...costFields(costs.get(batchOf(step) ?? '')),
    })),
    delivered_by: view.deliveredBy,
    created_at: view.createdAt.toISOString(),
    ended_at: view.endedAt?.toISOString() ?? null,
  };
}
