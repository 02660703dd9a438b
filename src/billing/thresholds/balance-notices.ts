import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountEvents } from '../../accounts/account-events.js';
import { amountText } from '../money.js';
import { BALANCE_EXHAUSTED, BALANCE_LOW } from './balance-events.js';
import { type Crossing, ThresholdStore } from './threshold.store.js';

/** Tells accounts of balances that are low or exhausted, in the transaction of the change. */
@Injectable()
export class BalanceNotices {
  constructor(
    private readonly store: ThresholdStore,
    private readonly events: AccountEvents,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /**
   * Compares the balances of locked accounts with their amounts. One that has fallen below an amount is
   * one notice; after it has risen again, the next fall has another one.
   */
  async look(manager: EntityManager, accounts: readonly string[]): Promise<void> {
    await this.tell(manager, await this.store.crossings(this.store.join(manager), accounts));
  }

  /** Notes crossings of locked accounts, and tells of falls. */
  async tell(manager: EntityManager, crossings: readonly Crossing[]): Promise<void> {
    if (crossings.length === 0) return;
    const sql = this.store.join(manager);
    await this.store.note(sql, crossings);
    const told = crossings
      .filter(({ isDown }) => isDown)
      .map((one) => ({ of: one, event: eventOf(one) }));
    await this.events.record(
      told.map(({ event }) => event),
      manager,
    );
    const createdAt = this.clock.now();
    await this.store.addNotices(
      sql,
      told.flatMap(({ of: { accountId, emails }, event: { type, data } }) =>
        emails === null
          ? []
          : { id: this.clock.id(), accountId, event: JSON.stringify({ type, data }), createdAt },
      ),
    );
  }
}

function eventOf({ accountId, threshold, balance, creditLimit, currency }: Crossing) {
  const data = {
    account_id: accountId,
    ...(threshold !== null && { threshold: amountText(threshold) }),
    balance: amountText(balance),
    credit_limit: amountText(creditLimit),
    currency,
  };
  const type = threshold === null ? BALANCE_EXHAUSTED : BALANCE_LOW;
  return { account: accountId, subject: accountId, type, data };
}
