import {
  consentWords,
  type FieldError,
  type InboundOptions,
  type RateLimit,
} from '@dundun/messaging';
import type { GuardRules } from '@dundun/messaging/ports';
import { partsOfLane } from '@dundun/messaging/values';
import { CONSENT_WORDS, rateOf } from '@dundun/messaging/values';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, IsNull, Not } from 'typeorm';
import { invalidField, invalidFields } from '../http/api-error.js';
import { Account, type AccountWords } from './accounts.tables.js';

type ConsentReader = ReturnType<typeof consentWords>;

/** Columns of the settings that an account may have; {@link OwnSettings} reads no other. */
const OWN_COLUMNS = ['rate', 'consentWords', 'guard'] as const satisfies readonly (keyof Account)[];

class OwnSettings {
  readonly rate: RateLimit | undefined;
  readonly words: AccountWords;
  readonly guard: GuardRules | undefined;
  #reader: ConsentReader | undefined;

  constructor({ rate, consentWords: words, guard }: Pick<Account, (typeof OWN_COLUMNS)[number]>) {
    this.guard = guard ?? undefined;
    this.rate = rate === null ? undefined : rateOf('rate', rate);
    this.words = words ?? {};
  }

  /** Folds the words at the first text: most accounts get none in a second. */
  consentOf(text: string): ReturnType<ConsentReader> {
    this.#reader ??= readerOf(this.words);
    return this.#reader(text);
  }
}

/** Milliseconds. */
const READ_EVERY = 1_000;

/** `per` of a rate that is read is in milliseconds. */
function perSecond({ max, per }: RateLimit): number {
  return (max * 1_000) / Number(per);
}

const readDefaultWords = consentWords();

/** Read before the first message is sent, and every second afterwards. */
@Injectable()
export class AccountSettings implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger('Accounts');
  #timer: NodeJS.Timeout | undefined;
  #own: ReadonlyMap<string, OwnSettings> = new Map();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async onModuleInit(): Promise<void> {
    await this.#read();
    this.#timer = setTimeout(() => void this.#refresh(), READ_EVERY).unref();
  }

  /** Does not wait for a read under way: the database may not answer any more. */
  onApplicationShutdown(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** @param most the highest rate of an account by channel, which also bounds its own rate */
  rateLimit(
    otherwise: RateLimit,
    most: Readonly<Record<string, RateLimit>> = {},
  ): (lane: string) => RateLimit {
    return (lane) => {
      const { tenant = '', channel = '' } = partsOfLane(lane) ?? {};
      const rate = this.#own.get(tenant)?.rate ?? otherwise;
      const limit = most[channel];
      return limit && perSecond(rate) > perSecond(limit) ? limit : rate;
    };
  }

  /** Of a tenant, for the library's guard. */
  readonly guardOf = (tenant: string): GuardRules | undefined => this.#own.get(tenant)?.guard;

  readonly inbound: Pick<InboundOptions, 'consent' | 'reply'> = {
    consent: (text, { tenant }) => {
      const own = this.#own.get(tenant);
      return own ? own.consentOf(text) : readDefaultWords(text);
    },
    reply: ({ tenant, consent }) => {
      const { stopReply, startReply } = this.#own.get(tenant)?.words ?? {};
      return consent === 'opted_out' ? stopReply : startReply;
    },
  };

  async #refresh(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#logger.warn({ message: 'settings of accounts not read', err: error });
    }
    this.#timer?.refresh();
  }

  async #read(): Promise<void> {
    const accounts = await this.dataSource.manager.find(Account, {
      where: OWN_COLUMNS.map((column) => ({ [column]: Not(IsNull()) })),
    });
    this.#own = new Map(accounts.map((account) => [account.id, new OwnSettings(account)]));
  }
}

/**
 * An account's words replace the defaults of their kind; `stop` opts out on every account. A word that a
 * later default has for the other meaning keeps the account's.
 */
function readerOf({ stop, start }: AccountWords): ConsentReader {
  if (!stop && !start) return readDefaultWords;
  const readOwn = consentWords({ own: { stop: [...(stop ?? []), 'stop'], start: start ?? [] } });
  return (text) => {
    const own = readOwn(text);
    if (own) return own;
    const meaning = readDefaultWords(text);
    return (meaning === 'opted_out' ? stop : start) ? undefined : meaning;
  };
}

const LONGEST_WORD = 40;
const LONGEST_REPLY = 1_000;

/** @throws ApiError 422 naming the wrong words and replies */
export function checkWords(words: AccountWords): void {
  const { stop, start, stopReply, startReply } = words;
  const errors: FieldError[] = [];
  for (const [path, list = []] of Object.entries({ stop, start }))
    if (list.some((word) => !/[\p{L}\p{N}]/u.test(word) || word.length > LONGEST_WORD)) {
      const message = `must be words of up to ${LONGEST_WORD} characters, with a letter`;
      errors.push({ path, message });
    }
  const replies = { 'stop-reply': stopReply, 'start-reply': startReply };
  for (const [path, reply] of Object.entries(replies))
    if (reply !== undefined && (reply.trim() === '' || reply.length > LONGEST_REPLY))
      errors.push({ path, message: `must be 1 to ${LONGEST_REPLY} characters` });
  if (errors.length > 0) throw invalidFields(errors);
  const defaults = Object.values(CONSENT_WORDS);
  try {
    consentWords({
      own: {
        stop: stop ? [...stop, 'stop'] : defaults.flatMap((list) => list.stop),
        start: start ?? defaults.flatMap((list) => list.start),
      },
    });
  } catch {
    throw invalidField('start', 'holds a word that opts out as well; use another');
  }
}

/** Checks a rate in the form of `RATE_LIMIT`. @throws ApiError 422 */
export function checkRate(rate: string): void {
  try {
    rateOf('rate', rate);
  } catch {
    throw invalidField('rate', 'must be messages per time, such as 50/s, 600/m or 10000/h');
  }
}
