import type { RetentionSettings } from './store/upkeep/purge.js';
import { capsOf } from './policy/frequency-cap.policy.js';
import { MessagingConfigError } from './message/errors.js';
import { type Duration, milliseconds } from './ports/duration.js';
import type { MessagingOptions } from './ports/messaging-options.js';
import { rateOf } from './ports/rate-limit.js';

/** The options with their defaults, durations in milliseconds. */
export interface MessagingSettings {
  readonly migrate: boolean;
  readonly preparedStatements: boolean;
  readonly dispatch: boolean;
  readonly leaseTime: number;
  readonly idempotencyWindow: number;
  readonly pollAfter: number;
  readonly giveUpAfter: number;
  readonly retention: RetentionSettings;
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly retryFor: number;
  readonly timeout: number;
  readonly shutdownTimeout: number;
}

/** @throws MessagingConfigError naming the option and the remedy */
export function settingsOf(options: MessagingOptions): MessagingSettings {
  if (options.rateLimit !== undefined && typeof options.rateLimit !== 'function')
    rateOf('rateLimit', options.rateLimit);
  if (options.transportRateLimit) rateOf('transportRateLimit', options.transportRateLimit);
  duration('backoff', options.backoff ?? '1s', 1);
  whole('maxRecipients', options.maxRecipients ?? 100_000);
  whole('maxParts', options.maxParts ?? 10);
  checkCap(options);
  return {
    migrate: options.migrate ?? process.env['NODE_ENV'] !== 'production',
    preparedStatements: options.preparedStatements ?? true,
    dispatch: options.dispatch ?? true,
    leaseTime: duration('lease', options.lease ?? '30s', 1_000),
    idempotencyWindow: duration('idempotencyWindow', options.idempotencyWindow ?? '24h', 1_000),
    pollAfter: duration('reconcile.after', options.reconcile?.after ?? '1m', 1),
    giveUpAfter: duration('reconcile.giveUpAfter', options.reconcile?.giveUpAfter ?? '72h', 1),
    retention: {
      content: optional('retention.content', options.retention?.content),
      messages: optional('retention.messages', options.retention?.messages),
    },
    concurrency: whole('concurrency', options.concurrency ?? 32),
    maxAttempts: whole('maxAttempts', options.maxAttempts ?? 8),
    retryFor: duration('retryFor', options.retryFor ?? '24h', 0),
    timeout: duration('timeout', options.timeout ?? '30s', 1),
    shutdownTimeout: duration('shutdownTimeout', options.shutdownTimeout ?? '10s', 0),
  };
}

/** What retention has erased cannot be counted. */
function checkCap({ policy = {}, retention = {} }: MessagingOptions): void {
  for (const { category, per } of capsOf(policy.frequencyCap ?? {}))
    for (const [field, kept] of Object.entries(retention))
      if (kept !== undefined && milliseconds(`retention.${field}`, kept) < per)
        throw new MessagingConfigError(
          `retention.${field}: is shorter than policy.frequencyCap.${category}.per; what is erased cannot be counted`,
        );
}

function whole(option: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new MessagingConfigError(
      `${option}: ${String(value)} must be a whole number of at least 1`,
    );
  return value;
}

function optional(option: string, value: Duration | undefined): number | undefined {
  return value === undefined ? undefined : duration(option, value, 0);
}

function duration(option: string, value: Duration, least: number): number {
  const parsed = milliseconds(option, value);
  if (parsed < least) throw new MessagingConfigError(`${option}: must be at least ${least} ms`);
  return parsed;
}
