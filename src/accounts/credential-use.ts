import { MessagingService } from '@dundun/messaging';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { IsNull, LessThan } from 'typeorm';
import { Credential } from './credential.entity.js';

const WRITE_EVERY = 30_000;

/** When each credential was last used: kept in memory on the hot path, written twice a minute. */
@Injectable()
export class CredentialUse implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Credentials');
  #used = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly messaging: MessagingService) {}

  note(credentialId: string): void {
    this.#used.set(credentialId, Date.now());
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.write(), WRITE_EVERY).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  /** Never rejects: what could not be written is tried again with the next. */
  async write(): Promise<void> {
    const used = this.#used;
    if (used.size === 0) return;
    this.#used = new Map();
    // In one order, so that two processes lock the same rows in the same order.
    const ordered = [...used].toSorted(([a], [b]) => (a < b ? -1 : 1));
    try {
      await this.messaging.transaction(async (manager) => {
        for (const [id, time] of ordered) {
          const lastUsedAt = new Date(time);
          await manager.update(
            Credential,
            [
              { id, lastUsedAt: IsNull() },
              { id, lastUsedAt: LessThan(lastUsedAt) },
            ],
            { lastUsedAt },
          );
        }
      });
    } catch (error) {
      for (const [id, time] of used) if (!this.#used.has(id)) this.#used.set(id, time);
      this.#logger.warn({ message: 'last use of credentials not written', err: error });
    }
  }
}
