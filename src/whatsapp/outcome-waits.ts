import type { SubmittedMessage, WhatsAppReceipt } from '@dundun/messaging';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../config/environment.js';

/** Requests of one process that wait at a time; the others are answered with what is known. */
const MOST = 1_000;

/**
 * Waits for the outcome of submits, as long as `WHATSAPP_WAIT` and not longer than the process lives:
 * a stop answers everybody with what is known.
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
    const known =
      this.#stopped || this.#giveUps.size >= MOST ? undefined : await this.#wait(receipt);
    return known ?? receipt.outcome({ timeout: 0 });
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
