import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ADDRESS_RULES, addressOf } from '../../message/address.js';
import type { ChannelDefinition, MessageParts } from '../../message/channel-definition.js';
import {
  AlreadySentError,
  IdempotencyKeyReusedError,
  MessagingConfigError,
  validated,
} from '../../message/errors.js';
import type { TenantOption } from '../../message/views.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-settings.js';
import { readDuration } from '../../ports/option-schema.js';
import { isBatchId } from '../../message/ids.js';
import type { Sql } from '../../store/database/store-database.js';
import { ChannelContext } from '../channel.service.js';
import { resealContent } from '../../store/upkeep/resealed-content.js';
import { WindowCounts } from '../../store/verbs/window-counts.js';
import { type KnownFields, refuseUnknownFields } from '../known-fields.js';
import { checkWords, given, isWithin } from '../send.js';
import { matchesDigest } from './code-digest.js';
import {
  type NewVerification,
  type StartedVerification,
  type Verification,
  VerificationNotFoundError,
  type VerificationStartOptions,
  type VerificationStatus,
} from './verification.js';
import {
  ACCOUNT_LIMIT,
  countryOf,
  LONGEST_WINDOW,
  VerificationLimits,
} from './verification-limits.js';
import { type StoredVerification, VerificationStore } from './verification-store.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** Milliseconds until the content of a message that is still under way is looked at again. */
const AGAIN = 5_000;
const AT_ONCE = 200;
/** Milliseconds for which an ended verification can be read. */
const KEPT = 30 * DAY;

const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000';

const FIELDS: KnownFields<NewVerification> = {
  to: true,
  channel: true,
  from: true,
  length: true,
  ttl: true,
  attempts: true,
  template: true,
};

/**
 * One-time codes over any channel. A code exists in memory and in its message alone, whose content
 * no view shows, which `verification.keys` encrypts, and which is erased when the verification ends;
 * the store has a keyed digest. Needs `erasure.keys`.
 * @example
 * const { id } = await verification.start({ to: '2348012345678', channel: 'sms', from: 'ACME' });
 * const { status } = await verification.check(id, code); // 'verified', once
 */
@Injectable()
export class VerificationService {
  readonly #store: VerificationStore;
  readonly #counts: WindowCounts;
  readonly #limits: VerificationLimits;

  /** @internal */
  constructor(
    @Inject(ChannelContext) private readonly context: ChannelContext,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
  ) {
    const { database, digests } = context.store;
    this.#store = new VerificationStore(database);
    this.#counts = new WindowCounts(database);
    const { verification } = settings;
    this.#limits = new VerificationLimits(this.#store, this.#counts, digests, verification);
  }

  /**
   * Sends a code, with priority `high`. Resolves once it is durable.
   * @throws MessageValidationError naming each wrong field
   * @throws IdempotencyKeyReusedError where the key was used for another verification
   * @throws VerificationLimitError where the recipient, its network or country, or the tenant, had
   * too many codes; `retryAfter` says when the next one may go
   * @throws VerificationStoppedError where few codes to the country are ever checked
   * @throws PolicyError where policy denies the recipient
   * @throws NoRouteError where no provider carries the channel
   */
  async start(
    verification: NewVerification,
    { tenant = '', idempotencyKey, manager, spender }: VerificationStartOptions = {},
  ): Promise<StartedVerification> {
    const { store, clock, channels, enqueuer } = this.context;
    const checked = this.#checked(verification, tenant, idempotencyKey);
    const { channel, from, address, length, ttl, attempts } = checked;
    const id = clock.id();
    const code = randomInt(10 ** length)
      .toString()
      .padStart(length, '0');
    const [digest] = store.digests.ofCode(id, code);
    if (digest === undefined)
      throw new MessagingConfigError(
        'erasure.keys: one-time codes are stored as keyed digests; set a key made with: openssl rand -base64 32',
      );
    const definition = channels.get(channel);
    const content = this.#contentOf(definition, verification, code, ttl);
    const country = countryOf(address);
    const now = clock.now();
    const asked = [channel, address.value, length, ttl, attempts];
    const key =
      idempotencyKey === undefined
        ? undefined
        : {
            keys: store.digests.ofIdempotencyKey(idempotencyKey),
            fingerprints: store.digests.fingerprints(asked),
          };
    const within = async (joined: EntityManager): Promise<StartedVerification> => {
      const tx = store.database.join(joined);
      if (key) {
        // Starts of a tenant wait for each other at its limit, so that the second one finds the first.
        await this.#counts.lockOne(tx, { tenant, ...ACCOUNT_LIMIT });
        const first = await this.#replayOf(tx, tenant, key, now);
        if (first) return first;
      }
      await this.#limits.take(tx, { tenant, address, country }, now);
      const message = {
        from,
        to: address.value,
        content,
        deliveryReport: false,
        secret: true,
      } as const;
      const options = { tenant, class: 'high', validFor: ttl, manager: joined, spender } as const;
      const { id: batch } = await enqueuer.enqueue(definition, message, options);
      const stored: StoredVerification = {
        id,
        tenant,
        channel,
        country,
        code: digest,
        attempts,
        batch,
        status: 'pending',
        tries: 0,
        createdAt: now,
        expiresAt: now + ttl,
      };
      const [own = ''] = key?.keys ?? [];
      const [fingerprint = ''] = key?.fingerprints ?? [];
      await this.#store.insert(tx, stored, key && { key: own, fingerprint });
      return startedOf(stored, false);
    };
    const tx = store.database.callersTransaction(manager);
    return tx ? within(tx.manager) : store.database.callerTransaction(within);
  }

  /**
   * Compares a code, in constant time and with the same statements whatever the answer. `verified` is the answer to one check alone: of concurrent checks with the
   * right code one gets it, the others `expired`.
   * @throws VerificationNotFoundError
   */
  async check(
    id: string,
    code: string,
    { tenant = '' }: TenantOption = {},
  ): Promise<{ readonly id: string; readonly status: VerificationStatus }> {
    const { store, clock } = this.context;
    const known = isBatchId(id) ? id : UNKNOWN_ID;
    const given = store.digests.ofCode(known, String(code).slice(0, 64));
    const status = await store.database.transaction(async (tx) => {
      const found = await this.#store.find(tx, tenant, known, true);
      const isRight = matchesDigest(given, found?.code ?? '');
      if (!found) throw new VerificationNotFoundError();
      const now = clock.now();
      const { answer, status, tries } = nextOf(found, isRight, now);
      const isEnd = status !== 'pending' && found.status === 'pending';
      await this.#store.update(tx, found.id, status, tries, isEnd ? now : null);
      return answer;
    });
    return { id, status };
  }

  /** @throws IdempotencyKeyReusedError */
  async #replayOf(
    tx: Sql,
    tenant: string,
    { keys, fingerprints }: { readonly keys: string[]; readonly fingerprints: string[] },
    now: number,
  ): Promise<StartedVerification | undefined> {
    const since = now - this.settings.store.idempotencyWindow;
    const first = await this.#store.ofKey(tx, tenant, keys, since);
    if (!first) return undefined;
    if (!fingerprints.includes(first.fingerprint)) throw new IdempotencyKeyReusedError();
    return startedOf(first, true);
  }

  /** @throws VerificationNotFoundError */
  async find(id: string, { tenant = '' }: TenantOption = {}): Promise<Verification> {
    const { store, clock } = this.context;
    const found = isBatchId(id) ? await this.#store.find(store.database, tenant, id) : undefined;
    if (!found) throw new VerificationNotFoundError();
    return viewOf(found, clock.now());
  }

  /** Verifications of any tenants by the batches of the messages with their codes. */
  async ofBatches(batchIds: readonly string[]): Promise<ReadonlyMap<string, Verification>> {
    const ids = batchIds.filter(isBatchId);
    const found = ids.length === 0 ? [] : await this.#store.ofBatches(ids);
    const now = this.context.clock.now();
    return new Map(found.map((one) => [one.batch, viewOf(one, now)]));
  }

  /** @internal Erases the contents of messages whose verifications have ended. */
  async eraseEnded(): Promise<void> {
    const { store, clock } = this.context;
    const now = clock.now();
    const ended = await store.database.transaction((tx) => this.#store.ended(tx, now, AT_ONCE));
    for (const one of ended) {
      const { tenant, channel, batch } = one;
      await store.batches.cancel(batch, { tenant, channel }).catch((error: unknown) => {
        if (!(error instanceof AlreadySentError)) throw error;
      });
      await store.database.transaction((tx) =>
        this.#store.eraseContent(tx, one, clock.now() + AGAIN),
      );
    }
  }

  /**
   * Encrypts the messages that still have their code with the first of `verification.keys`, those in
   * clear too. After it the former keys are no longer needed. @returns the number of messages changed
   */
  async reencrypt(): Promise<number> {
    const { database } = this.context.store;
    let count = 0;
    for (let after = UNKNOWN_ID; ;) {
      const found = await this.#store.withContent(database, after, AT_ONCE);
      for (const { batch } of found)
        if (await database.transaction((tx) => resealContent(database, tx, batch))) count++;
      const last = found.at(-1);
      if (!last) return count;
      after = last.id;
    }
  }

  /** @internal Deletes old verifications and windows of limits. */
  async forget(): Promise<void> {
    const { store, clock } = this.context;
    const now = clock.now();
    await store.database.transaction((tx) =>
      this.#store.forget(tx, now - KEPT, now - LONGEST_WINDOW),
    );
  }

  #checked(verification: NewVerification, tenant: string, idempotencyKey: string | undefined) {
    const {
      to,
      channel,
      from,
      length = 6,
      ttl = '10m',
      attempts = 5,
    } = given(verification, 'verification');
    refuseUnknownFields(verification, FIELDS);
    return validated((errors) => {
      const refuse = (path: string, message: string) => errors.push({ path, message });
      const known = this.context.channels.namesWhere(({ oneTimeCode }) => oneTimeCode);
      const isKnown = known.includes(channel);
      if (!isKnown) refuse('channel', `must be one of ${known.join(', ')}`);
      const kind = isKnown ? this.context.channels.get(channel).addressKinds[0] : undefined;
      const address = kind && addressOf(kind, to);
      if (kind && !address) refuse('to', ADDRESS_RULES[kind]);
      const { countries } = this.settings.verification;
      if (address?.kind === 'phone' && countries && !countries.includes(countryOf(address)))
        refuse('to', 'is in a country that gets no codes');
      if (!isWithin(length, 4, 8)) refuse('length', 'must be 4 to 8');
      if (!isWithin(attempts, 3, 10)) refuse('attempts', 'must be 3 to 10');
      const lasts = readDuration(ttl);
      if (lasts === undefined || lasts < MINUTE || lasts > DAY)
        refuse('ttl', "must be '1m' to '24h'");
      checkWords({ tenant, idempotencyKey }, errors);
      return {
        channel,
        from,
        length,
        attempts,
        ttl: lasts ?? 0,
        address: address ?? { kind: 'phone', value: '' },
      };
    });
  }

  #contentOf(
    { oneTimeCode }: ChannelDefinition,
    { from, template }: NewVerification,
    code: string,
    ttl: number,
  ): MessageParts['content'] {
    const { text = standardText, subject, template: standard } = this.settings.verification;
    const stated = {
      code,
      from,
      text: () => text({ code, minutes: Math.floor(ttl / MINUTE) }),
      subject,
      template: template ?? standard,
    };
    return validated((errors) => oneTimeCode!(stated, errors));
  }
}

function standardText({ code, minutes }: { readonly code: string; readonly minutes: number }) {
  return `${code} is your code. It is valid for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}. Do not share it.`;
}

function viewOf(
  verification: Omit<StoredVerification, 'tenant' | 'country' | 'code' | 'tries' | 'attempts'>,
  now: number,
): Verification {
  const { id, channel, batch: batchId, status, createdAt, expiresAt } = verification;
  return {
    id,
    channel,
    batchId,
    status: status === 'pending' && now >= expiresAt ? 'expired' : status,
    createdAt: new Date(createdAt),
    expiresAt: new Date(expiresAt),
  };
}

/** The answer to the start, also after the verification has ended. */
function startedOf(
  { id, channel, batch: batchId, createdAt, expiresAt }: StoredVerification,
  replayed: boolean,
): StartedVerification {
  const times = { createdAt: new Date(createdAt), expiresAt: new Date(expiresAt) };
  return { id, channel, batchId, status: 'pending', ...times, replayed };
}

interface Checked {
  readonly answer: VerificationStatus;
  readonly status: VerificationStatus;
  readonly tries: number;
}

/** Result of a check. A late one counts as a check, too: see {@link VerificationLimits}. */
function nextOf(found: StoredVerification, isRight: boolean, now: number): Checked {
  const { status, attempts, expiresAt } = found;
  if (status !== 'pending')
    return { answer: status === 'verified' ? 'expired' : status, status, tries: found.tries || 1 };
  const tries = found.tries + 1;
  const missed = tries >= attempts ? 'exhausted' : 'pending';
  const next = now >= expiresAt ? 'expired' : isRight ? 'verified' : missed;
  return { answer: next, status: next, tries };
}
