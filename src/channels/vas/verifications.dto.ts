import type { VerificationStatus, Verification as LibraryVerification } from '@dundun/messaging';
import { type Cost, costFields } from '../../billing/charging/message-costs.js';
import {
  ChargedPrice,
  Choice,
  PriceCurrency,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../../http/fields.js';
import { BodyExamples } from '../../http/request.decorators.js';

const CHANNELS = ['sms', 'whatsapp', 'voice', 'email'] as const;
export type VerificationChannel = (typeof CHANNELS)[number];
const STATUSES = ['pending', 'verified', 'expired', 'exhausted'];

@BodyExamples({
  'a code by SMS': { to: '2348012345678', channel: 'sms' },
  'a code by email': { to: 'ada@example.com', channel: 'email', length: 8, ttl: '30m' },
})
export class StartVerification {
  @Text({
    minLength: 1,
    maxLength: 320,
    description: 'Digits with country code, no plus; on the channel `email` an e-mail address.',
    examples: ['2348012345678'],
  })
  readonly to!: string;

  @Choice(CHANNELS, { description: 'From the account’s first sender there.', examples: ['sms'] })
  readonly channel!: VerificationChannel;

  @WholeNumber({ optional: true, minimum: 4, maximum: 8, default: 6, description: 'Digits.' })
  readonly length: number = 6;

  @Text({
    optional: true,
    pattern: '^[1-9][0-9]{0,4}(s|m|h)$',
    description: 'How long the code is right, from `1m` to `24h`.',
    default: '10m',
    examples: ['10m'],
    message: "must be a duration from '1m' to '24h'",
  })
  readonly ttl: string = '10m';

  @WholeNumber({
    optional: true,
    minimum: 3,
    maximum: 10,
    default: 5,
    description: 'Checks until the code ends.',
  })
  readonly attempts: number = 5;
}

@BodyExamples({ 'a code': { code: '123456' } })
export class CheckVerification {
  @Text({ minLength: 1, maxLength: 32, examples: ['123456'] }) readonly code!: string;
}

export class VerificationAnswer {
  @Uuid() readonly id!: string;

  @Choice(STATUSES, {
    description:
      '`verified` is the answer to one check alone; a further check of that code answers `expired`.',
    examples: ['pending'],
  })
  readonly status!: VerificationStatus;
}

export class Verification extends VerificationAnswer {
  @Choice(CHANNELS, { examples: ['sms'] }) readonly channel!: string;
  @ChargedPrice() readonly cost!: number | null;
  @PriceCurrency() readonly currency!: string | null;
  @Timestamp() readonly expires_at!: string;
  @Timestamp() readonly created_at!: string;
}

export function verificationOf(
  verification: LibraryVerification,
  cost: Cost | undefined,
): Verification {
  const { id, status, channel, expiresAt, createdAt } = verification;
  return {
    id,
    status,
    channel,
    ...costFields(cost),
    expires_at: expiresAt.toISOString(),
    created_at: createdAt.toISOString(),
  };
}
