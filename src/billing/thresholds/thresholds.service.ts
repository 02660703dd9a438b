import { readAddress } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { Also } from '../../accounts/accounts.service.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { invalidField } from '../../http/api-error.js';
import { EMAIL_RULE } from '../../http/fields.js';
import { ChargeStore } from '../charging/charge.store.js';
import { AMOUNT_FORM, BillingService } from '../ledger/billing.service.js';
import { readAmount } from '../money.js';
import { type ThresholdSettings, ThresholdStore } from './threshold.store.js';

const MOST_THRESHOLDS = 10;
const MOST_EMAILS = 5;

/** New settings of the notices of an account; each list replaces the present one. */
export interface NewThresholds {
  /** Decimal texts above zero. @default the present ones */
  readonly thresholds?: readonly string[] | undefined;
  /** E-mail addresses. @default the present ones */
  readonly emails?: readonly string[] | undefined;
}

/** Below which balances an account gets a notice, and at which e-mail addresses. */
@Injectable()
export class ThresholdsService {
  constructor(
    private readonly billing: BillingService,
    private readonly charges: ChargeStore,
    private readonly store: ThresholdStore,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'BILLING_EMAIL_FROM'>,
  ) {}

  find(accountId: string): Promise<ThresholdSettings> {
    return this.store.settings(accountId);
  }

  /** @throws ApiError 404; 422 naming the wrong field */
  set(accountId: string, given: NewThresholds, also: Also): Promise<ThresholdSettings> {
    const thresholds = given.thresholds && thresholdsOf(given.thresholds);
    const emails = given.emails && emailsOf(given.emails);
    if (emails?.length && this.environment.BILLING_EMAIL_FROM === undefined)
      throw invalidField('emails', 'need a sender; set BILLING_EMAIL_FROM');
    return this.billing.changing(accountId, async (sql, manager) => {
      // The balance must not change before the new amounts are compared with it.
      await this.charges.lock(sql, [accountId]);
      const present = await this.store.settings(accountId, sql);
      await this.store.put(sql, accountId, {
        thresholds: thresholds ?? present.thresholds,
        emails: emails ?? present.emails,
      });
      await also(manager);
      return this.store.settings(accountId, sql);
    });
  }
}

function thresholdsOf(written: readonly string[]): bigint[] {
  if (written.length > MOST_THRESHOLDS)
    throw invalidField('thresholds', `must be at most ${MOST_THRESHOLDS}`);
  const amounts = written.map((one, index) => {
    const amount = readAmount(one);
    if (amount === undefined || amount <= 0n)
      throw invalidField(`thresholds[${index}]`, `must be ${AMOUNT_FORM}, above zero, such as 500`);
    return amount;
  });
  return [...new Set(amounts)];
}

function emailsOf(written: readonly string[]): string[] {
  if (written.length > MOST_EMAILS) throw invalidField('emails', `must be at most ${MOST_EMAILS}`);
  const addresses = written.map((one, index) => {
    const address = readAddress(one.trim(), ['email']);
    // A comma separates addresses where they are stored.
    if (!address || address.value.includes(',') || address.value.length > 254)
      throw invalidField(`emails[${index}]`, EMAIL_RULE);
    return address.value;
  });
  return [...new Set(addresses)];
}
