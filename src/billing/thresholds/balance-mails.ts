import {
  EmailService,
  MessageValidationError,
  MessagingService,
  NoRouteError,
  PolicyError,
} from '@dundun/messaging';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { BALANCE_LOW } from './balance-events.js';
import { type Notice, ThresholdStore } from './threshold.store.js';

const LOOK_EVERY = 5_000;

/** An e-mail about a balance that could not leave for so long says nothing of it any more. */
const KEPT = 86_400_000;

/** No later try leads to another answer. */
const NEVER_SENT = [MessageValidationError, NoRouteError, PolicyError];

interface BalanceEvent {
  readonly type: string;
  readonly data: Readonly<Record<'balance' | 'currency', string>> & { readonly threshold?: string };
}

type MailSettings = Pick<Environment, 'BILLING_EMAIL_FROM' | 'PUBLIC_URL'>;

/**
 * Sends the e-mails about balances from `BILLING_EMAIL_FROM`, as messages of no account. A notice goes
 * in the transaction that accepts its e-mail, so that each one leaves once.
 */
@Injectable()
export class BalanceMails implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Billing');
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly messaging: MessagingService,
    private readonly email: EmailService,
    private readonly store: ThresholdStore,
    @Inject(ENVIRONMENT) private readonly environment: MailSettings,
  ) {}

  onApplicationBootstrap(): void {
    if (this.environment.BILLING_EMAIL_FROM === undefined) return;
    this.#timer = setInterval(() => void this.run(), LOOK_EVERY).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Sends what is due. Never rejects: a failed e-mail is tried again at the next look. */
  run(): Promise<void> {
    this.#running ??= this.#sendAll().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #sendAll(): Promise<void> {
    try {
      while (await this.#sendOne());
    } catch (error) {
      this.#logger.warn({ message: 'an e-mail about a balance was not sent', err: error });
    }
  }

  /** @returns whether there was one */
  #sendOne(): Promise<boolean> {
    const from = this.environment.BILLING_EMAIL_FROM;
    if (from === undefined) return Promise.resolve(false);
    return this.messaging.transaction(async (manager) => {
      const sql = this.store.join(manager);
      const notice = await this.store.takeNotice(sql);
      if (!notice) return false;
      const { emails } = await this.store.settings(notice.accountId, sql);
      if (emails.length === 0 || notice.createdAt < Date.now() - KEPT) return true;
      try {
        await this.email.send({ from, to: emails, ...this.#textOf(notice) }, { manager });
      } catch (error) {
        if (!NEVER_SENT.some((type) => error instanceof type)) throw error;
        const { accountId: account } = notice;
        this.#logger.warn({
          message: 'an e-mail about a balance is left out',
          account,
          err: error,
        });
      }
      return true;
    });
  }

  #textOf({ accountId, event, createdAt }: Notice): { subject: string; text: string } {
    const { type, data } = JSON.parse(event) as BalanceEvent;
    const { balance, currency, threshold } = data;
    const at = new Date(createdAt).toISOString();
    const page = `${this.environment.PUBLIC_URL.replace(/\/+$/, '')}/portal/`;
    return type === BALANCE_LOW
      ? {
          subject: `The balance is below ${threshold} ${currency}`,
          text: `The balance of account ${accountId} fell below ${threshold} ${currency} at ${at}. It was ${balance} ${currency} then.\n\nThe portal shows it: ${page}\n`,
        }
      : {
          subject: 'The balance is spent',
          text: `The balance of account ${accountId} was ${balance} ${currency} at ${at}, and nothing is left to spend. Further messages are refused until it is topped up.\n\nThe portal shows it: ${page}\n`,
        };
  }
}
