import type { GuardFinding } from '@dundun/messaging/ports';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { pageOf } from './alert-watches.js';
import { Alerts, type RaisedAlert } from './alerts.js';

/** Milliseconds in which findings of one account, rule and channel become one alert. */
const COLLECTED_FOR = 1_000;

/** Accounts, rules and channels of one write; further ones are left to their next finding. */
const MOST = 1_000;

const HOUR = 3_600_000;

/**
 * Raises the findings of the guard against abuse as alerts. The guard tells of them within the transaction of a send,
 * also of a refused one, so they are collected here and written after it. What a killed process has not written is
 * raised by the next send over the limit.
 */
@Injectable()
export class AbuseAlerts implements BeforeApplicationShutdown {
  readonly #logger = new Logger('Alerts');
  #found = new Map<string, GuardFinding>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly alerts: Alerts) {}

  /** Never throws. */
  add(finding: GuardFinding): void {
    const { tenant, rule, channel, action } = finding;
    const key = `${tenant} ${rule} ${channel} ${action}`;
    if (this.#found.size < MOST || this.#found.has(key)) this.#found.set(key, finding);
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#write();
    }, COLLECTED_FOR).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#write();
  }

  async #write(): Promise<void> {
    const findings = [...this.#found.values()];
    this.#found = new Map();
    for (const finding of findings) {
      const alert = alertOf(finding);
      this.#logger.warn({ message: 'a send is over a limit against abuse', ...alert.figures });
      try {
        await this.alerts.raise(alert);
      } catch (error) {
        this.#logger.warn({ message: 'an alert is not raised', kind: alert.kind, err: error });
      }
    }
    this.#timer = undefined;
    // Those that came meanwhile.
    const [next] = this.#found.values();
    if (next) this.add(next);
  }
}

const DONE = {
  deny: 'the send was refused',
  hold: 'the lane of the channel is held until an operator releases it',
  alert: 'the message was sent',
} as const satisfies Readonly<Record<GuardFinding['action'], string>>;

function alertOf({ tenant, channel, rule, action, reason, at }: GuardFinding): RaisedAlert {
  return {
    kind: 'abuse',
    subject: `${rule} ${channel}`,
    account: tenant,
    detail: `${reason}: ${DONE[action]}.`,
    figures: { account: tenant, rule, channel, action },
    page: pageFor[action](channel, at),
  };
}

/** A refused send is no message: only the figures of those before it are there. */
const pageFor = {
  deny: (channel: string) => pageOf('insights', { by: 'country', channel }),
  hold: (channel: string) => pageOf('messages', { status: 'queued', channel }),
  alert: (channel: string, at: Date) =>
    pageOf('messages', { channel, since: new Date(at.getTime() - HOUR).toISOString() }),
} as const;
