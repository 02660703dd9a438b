import type { OtherCallback } from '../../channel.js';
import { CallbackEvent } from '../../http/callback.dto.js';
import { Field, Text } from '../../http/fields.js';

export const BALANCE_LOW = 'account.balance_low';
export const BALANCE_EXHAUSTED = 'account.balance_exhausted';

class BalanceData {
  @Text({ examples: ['acc_2bH9kQwErTyUiOpAsDfGhJ'] }) readonly account_id!: string;
  @Text({ description: 'A decimal text.', examples: ['98.50'] }) readonly balance!: string;
  @Text({ description: 'A decimal text.', examples: ['0.00'] }) readonly credit_limit!: string;
  @Text({ description: 'ISO 4217.', examples: ['NGN'] }) readonly currency!: string;
}

class BalanceLowData extends BalanceData {
  @Text({ description: 'The amount that the balance fell below.', examples: ['100.00'] })
  readonly threshold!: string;
}

class BalanceLowCallback extends CallbackEvent {
  @Field({ type: BalanceLowData }) readonly data!: BalanceLowData;
}

class BalanceExhaustedCallback extends CallbackEvent {
  @Field({ type: BalanceData }) readonly data!: BalanceData;
}

/** Callbacks of the balance of an account. */
export const BALANCE_CALLBACKS: readonly OtherCallback[] = [
  {
    type: BALANCE_LOW,
    event: BalanceLowCallback,
    summary: 'A balance fell below an amount',
    description: 'Once for each amount of the account, and again after the balance was above it.',
  },
  {
    type: BALANCE_EXHAUSTED,
    event: BalanceExhaustedCallback,
    summary: 'A balance and its credit limit are spent',
    description: 'Once, and again after there was something to spend.',
  },
];
