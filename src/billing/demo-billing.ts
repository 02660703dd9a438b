import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type GatewayChannel, GatewayChannels } from '../channel.js';
import { LedgerStore } from './ledger/ledger.store.js';
import { amountText, readAmount } from './money.js';
import { RateImports } from './rate-cards/rate-imports.service.js';
import { OTHERS, type Rate } from './rate-cards/rate-table.js';

/** The card of the account of the first start; other accounts have `default`. */
const CARD = 'demo';

const CURRENCY = 'NGN';

/** Of a channel that names none. */
const OTHER_PRICE = '1';

const MESSAGES = 1_000_000n;

/** Makes the account of the first start one that pays. */
@Injectable()
export class DemoBilling {
  constructor(
    private readonly channels: GatewayChannels,
    private readonly registry: ChannelRegistry,
    private readonly imports: RateImports,
    private readonly ledger: LedgerStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /**
   * Gives a new account a card with a price for each channel and category, and a balance for a million
   * messages at the dearest of them. Other processes know of both within a second.
   * @returns the balance with its currency, such as `50000000.00 NGN`
   */
  async add(manager: EntityManager, accountId: string): Promise<string> {
    const rates = this.channels.all.flatMap((channel) => this.#ratesOf(channel));
    const lines = rates.map((rate, n): [number, Rate] => [n + 2, rate]);
    await this.imports.store(manager, lines, { card: CARD, currency: CURRENCY });
    const dearest = rates.reduce((most, { amount }) => (amount > most ? amount : most), 0n);
    const amount = dearest * MESSAGES;
    const sql = this.ledger.join(manager);
    await sql.run(
      `INSERT INTO gateway_billing_account (account_id, mode, currency, card) VALUES (?, 'prepaid', ?, ?)`,
      [accountId, CURRENCY, CARD],
    );
    const entry = { accountId, amount, kind: 'top_up', reference: 'first-start' } as const;
    const note = 'Balance of the first start';
    await this.ledger.post(sql, [{ ...entry, note, userId: null, at: this.clock.now() }]);
    return `${amountText(amount)} ${CURRENCY}`;
  }

  #ratesOf({ name: channel, isTimed = false, demoPrice = OTHER_PRICE }: GatewayChannel): Rate[] {
    const categories = this.registry.get(channel).pricing?.categories ?? [null];
    return categories.map((category) => {
      const price =
        typeof demoPrice === 'string' ? demoPrice : (demoPrice[category ?? ''] ?? OTHER_PRICE);
      const amount = readAmount(price) ?? 0n;
      const billing = isTimed ? '60/60' : null;
      return { channel, category, price, amount, prefix: OTHERS, billing };
    });
  }
}
