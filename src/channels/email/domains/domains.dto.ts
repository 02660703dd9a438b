import { CallbackEvent } from '../../../http/callback.dto.js';
import { Choice, Field, Flag, type Plain, Text, Timestamp, Uuid } from '../../../http/fields.js';
import { PageOf, PageQueryOf } from '../../../http/page.dto.js';
import { BodyExamples } from '../../../http/request.decorators.js';
import { DOMAIN_NAME_RULE, RECORD_PURPOSES, RECORD_TYPES } from './domain-records.js';
import type { DomainView } from './domains.service.js';
import { DOMAIN_STATUSES, type DomainStatus, RECORD_STATUSES } from './domains.tables.js';

function Name(): PropertyDecorator {
  return Text({
    minLength: 1,
    maxLength: 253,
    examples: ['mail.example.com'],
    message: DOMAIN_NAME_RULE,
  });
}

@BodyExamples({ domain: { name: 'mail.example.com' } })
export class CreateDomain {
  @Name() readonly name!: string;
}

export class DomainsQuery extends PageQueryOf(100, 100) {}

class DomainDnsRecord {
  @Choice(RECORD_PURPOSES, { examples: ['dkim'] }) readonly purpose!: string;
  @Choice(RECORD_TYPES) readonly type!: string;

  @Text({
    description: 'Fully qualified.',
    examples: ['dundun-r-1f2e3d4c._domainkey.mail.example.com'],
  })
  readonly name!: string;

  @Text({
    description:
      'What to publish, in one piece and without quotes; of an MX record the preference and the host.',
    examples: ['v=DKIM1; k=rsa; p=MIIBIjANBgkq…'],
  })
  readonly value!: string;

  @Flag({ description: 'The domain is not verified without it.', examples: [true] })
  readonly required!: boolean;

  @Choice(RECORD_STATUSES, {
    description:
      '`mismatch`: there is another one, or more than one; `unreachable`: DNS gave no answer.',
    examples: ['found'],
  })
  readonly status!: string;

  @Text({ nullable: true, description: 'What DNS has in its place.', examples: [null] })
  readonly found!: string | null;

  @Timestamp({ nullable: true, description: 'null: not checked yet.' })
  readonly checked_at!: string | null;
}

export class Domain {
  @Uuid() readonly id!: string;
  @Text({ examples: ['mail.example.com'] }) readonly name!: string;

  @Choice(DOMAIN_STATUSES, {
    description:
      'Mail is sent from a `verified` domain; `failed`: its records were wrong for 72 hours, or another account has verified it.',
    examples: ['verified'],
  })
  readonly status!: DomainStatus;

  @Field({ type: [DomainDnsRecord] }) readonly records!: readonly DomainDnsRecord[];
  @Timestamp({ nullable: true }) readonly verified_at!: string | null;
}

export class DomainPage extends PageOf(Domain) {}

export function domainOf({ id, name, status, records, verifiedAt }: DomainView): Plain<Domain> {
  return {
    id,
    name,
    status,
    records: records.map(({ check, ...record }) => ({
      ...record,
      status: check?.status ?? 'missing',
      found: check?.found ?? null,
      checked_at: check?.checkedAt ?? null,
    })),
    verified_at: verifiedAt?.toISOString() ?? null,
  };
}

class DomainEventData {
  @Uuid() readonly domain_id!: string;
  @Text({ examples: ['mail.example.com'] }) readonly name!: string;
  @Choice(DOMAIN_STATUSES, { examples: ['verified'] }) readonly status!: DomainStatus;

  @Text({
    nullable: true,
    description:
      '`records_changed`: a required record was wrong for 72 hours; `verified_elsewhere`: another account has verified the domain; null: verified.',
    examples: [null],
  })
  readonly error_code!: string | null;

  @Timestamp() readonly changed_at!: string;
}

/** Callback of a domain that was verified, or is so no more. */
export class DomainEvent extends CallbackEvent {
  @Field({ type: DomainEventData }) readonly data!: DomainEventData;
}
