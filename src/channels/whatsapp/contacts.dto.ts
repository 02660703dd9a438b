import type { ConsentState, Contact as StoredContact } from '@dundun/messaging';
import { isGroupId } from '@dundun/messaging/values';
import {
  Choice,
  Field,
  FlagOr,
  GROUP_ID,
  List,
  numberRemedy,
  PHONE_NUMBER,
  PhoneNumber,
  RequiresOneOf,
  SentNumber,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../../http/fields.js';
import { PageOf, PageQueryOf } from '../../http/page.dto.js';
import { BodyExamples } from '../../http/request.decorators.js';
import { Rule } from '../../http/validation.js';

const MOST_GROUPS = 100;

export const UNKNOWN_GROUP = 'names a group that does not exist';

/** Milliseconds for which an inbound message opens the window (interface section 3.1). */
const WINDOW = 24 * 60 * 60 * 1_000;

const CONSENT_STATES = ['opted_in', 'opted_out'] as const satisfies readonly ConsentState[];

function Bsuid(): PropertyDecorator {
  return Text({
    optional: true,
    pattern: '^[\\x21-\\x7e]{1,255}$',
    description: 'WhatsApp’s business-scoped user id.',
    message: 'must be 1 to 255 visible ASCII characters',
  });
}

@BodyExamples({ 'with its proof': { source: 'web form', evidence: 'Yes, write to me' } })
export class GivenConsent {
  @Text({ optional: true, minLength: 1, maxLength: 255, default: 'api' }) readonly source?: string;

  @Timestamp({ optional: true, description: 'When it was given; now where it is left out.' })
  readonly at?: string;

  @Text({ optional: true, maxLength: 10_000, description: 'The proof.' })
  readonly evidence?: string;
}

export class GivenOptIn extends GivenConsent {
  @Choice(CONSENT_STATES) readonly status!: ConsentState;
}

/** An omitted field does not change. */
@RequiresOneOf('phone', 'bsuid')
@BodyExamples({
  'opted in': {
    phone: '2348012345678',
    name: 'Ada',
    opt_in: { status: 'opted_in', source: 'web form', at: '2026-11-20T13:20:27.921Z' },
  },
  'into a group': { phone: '2348012345678', groups: ['grp_4yGq0cXo2vGdXk1w8bTzRs'] },
})
export class UpsertContact {
  @Field(
    { ...PHONE_NUMBER, optional: 'in the document' },
    Rule((phone, { bsuid }) => {
      if (phone !== undefined) return numberRemedy(phone);
      return bsuid === undefined ? 'or bsuid must be there' : undefined;
    }),
  )
  readonly phone?: string;

  @Bsuid() readonly bsuid?: string;
  @Text({ optional: true, maxLength: 255 }) readonly name?: string;

  @FlagOr(GivenOptIn, {
    optional: true,
    description: 'The consent to WhatsApp messages; `true` is `opted_in`.',
  })
  readonly opt_in?: boolean | GivenOptIn;

  @List({
    optional: true,
    items: GROUP_ID,
    maxItems: MOST_GROUPS,
    description: 'All groups of the contact from now on.',
    entry: (id) => (isGroupId(id) ? undefined : UNKNOWN_GROUP),
    message: `must be a list of at most ${MOST_GROUPS} group ids`,
  })
  readonly groups?: readonly string[];
}

export class ContactsQuery extends PageQueryOf(1_000, 100) {
  @SentNumber() readonly phone?: string;
  @Bsuid() readonly bsuid?: string;
}

export class ContactConsent {
  @Choice([...CONSENT_STATES, 'none']) readonly status!: ConsentState | 'none';
  @Timestamp({ nullable: true }) readonly at!: string | null;
  @Text({ nullable: true, examples: ['web form'] }) readonly source!: string | null;
}

export class Contact {
  @Uuid() readonly id!: string;
  @PhoneNumber({ nullable: true }) readonly phone!: string | null;
  @Text({ nullable: true }) readonly bsuid!: string | null;
  @Text({ nullable: true, examples: ['Ada'] }) readonly name!: string | null;
  @Field({ type: ContactConsent }) readonly opt_in!: ContactConsent;

  @Timestamp({
    nullable: true,
    description: 'Until then a free text may be sent; null: no window is open.',
    examples: [null],
  })
  readonly window_expires_at!: string | null;

  @Field({ type: 'array', items: GROUP_ID }) readonly groups!: readonly string[];
}

export class ContactPage extends PageOf(Contact) {}

/** `sender` is the account's number, whose window is shown; `now` is epoch milliseconds. */
export function contactOf(
  contact: StoredContact,
  sender: string | undefined,
  now: number,
): Contact {
  const { id, phone, platform: bsuid, name, groups, consents, lastInbound } = contact;
  const consent = consents['whatsapp'];
  const lastWrote = lastInbound[sender ?? ''];
  const expires = lastWrote ? lastWrote.getTime() + WINDOW : 0;
  return {
    id,
    phone,
    bsuid,
    name,
    opt_in: {
      status: consent?.state ?? 'none',
      at: consent?.at.toISOString() ?? null,
      source: consent?.source ?? null,
    },
    window_expires_at: expires > now ? new Date(expires).toISOString() : null,
    groups,
  };
}

export class Erasure {
  @WholeNumber({
    minimum: 0,
    description: 'Messages that no longer name the person.',
    examples: [3],
  })
  readonly messages!: number;

  @WholeNumber({
    minimum: 0,
    description: 'Batches with a message in flight, which names the person until it ends.',
  })
  readonly remaining!: number;
}
