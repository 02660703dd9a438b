import type { SubmittedMessage, WhatsAppReceipt } from '@dundun/messaging';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../config/environment.js';

/**
 * Most requests of one process that wait concurrently; further ones get the current state at once.
 */
const MAX_WAITS = 1_000;

/**
 * Waits for the outcomes of submits, at most `WHATSAPP_WAIT`. When the process stops, all waiting
 * requests get the current state.
 */
@Injectable()
export class OutcomeWaits implements OnModuleDestroy {
  readonly #timeout: number;
  readonly #giveUps = new Set<() => void>();
  #stopped = false;

  constructor(@Inject(ENVIRONMENT) { WHATSAPP_WAIT }: Environment) {
    this.#timeout = WHATSAPP_WAIT;
  }

  async outcome(receipt: WhatsAppReceipt): Promise<SubmittedMessage> {
    const isRefused = this.#stopped || this.#giveUps.size >= MAX_WAITS;
    return (isRefused ? undefined : await this.#wait(receipt)) ?? receipt.outcome({ timeout: 0 });
  }

  onModuleDestroy(): void {
    this.#stopped = true;
    for (const giveUp of this.#giveUps) giveUp();
  }

  /** `undefined`: the process stopped first. */
  #wait(receipt: WhatsAppReceipt): Promise<SubmittedMessage | undefined> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => resolve(undefined);
      this.#giveUps.add(giveUp);
      receipt
        .outcome({ timeout: this.#timeout })
        .then(resolve, reject)
        .finally(() => this.#giveUps.delete(giveUp));
    });
  }
}
