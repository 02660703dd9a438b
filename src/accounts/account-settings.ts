import {
  CONSENT_WORDS,
  consentWords,
  type InboundOptions,
  type RateLimit,
  rateOf,
} from '@dundun/messaging';
import { Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { type DataSource, IsNull, Not } from 'typeorm';
import { invalidFields } from '../http/api-error.js';
import { Account, type AccountWords } from './accounts.tables.js';

type Reading = ReturnType<ReturnType<typeof consentWords>>;

interface OwnSettings {
  readonly rate: RateLimit | undefined;
  readonly words: AccountWords;
  readonly read: (text: string) => Reading;
}

/** Interval of reading the settings, in milliseconds. */
const READ_EVERY = 1_000;

const readDefaultWords = consentWords();

/**
 * Settings of single accounts: rate, consent words and replies. They are read before the first
 * message is sent, and every second afterwards.
 */
@Injectable()
export class AccountSettings implements OnApplicationShutdown {
  readonly #logger = new Logger('Accounts');
  readonly #timer: NodeJS.Timeout;
  #own: ReadonlyMap<string, OwnSettings> = new Map();
  #isReading = false;

  private constructor(private readonly dataSource: DataSource) {
    this.#timer = setInterval(() => {
      if (!this.#isReading) void this.#refresh();
    }, READ_EVERY).unref();
  }

  static async open(dataSource: DataSource): Promise<AccountSettings> {
    const settings = new AccountSettings(dataSource);
    await settings.#read();
    return settings;
  }

  /** Does not wait for a read under way: the database may not answer any more. */
  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** The rate limit of a lane: its account's, else `otherwise`. */
  rateLimit(otherwise: RateLimit): (lane: string) => RateLimit {
    return (lane) => this.#own.get(lane.slice(0, lane.lastIndexOf(':')))?.rate ?? otherwise;
  }

  /** Recognises consent, and replies to it, by the words and replies of the message's account. */
  get inbound(): Pick<InboundOptions, 'consent' | 'reply'> {
    return {
      consent: (text, { tenant }) => (this.#own.get(tenant)?.read ?? readDefaultWords)(text),
      reply: ({ tenant, consent }) => {
        const { stopReply, startReply } = this.#own.get(tenant)?.words ?? {};
        return consent === 'opted_out' ? stopReply : startReply;
      },
    };
  }

  async #refresh(): Promise<void> {
    this.#isReading = true;
    try {
      await this.#read();
    } catch (error) {
      this.#logger.warn({ message: 'settings of accounts not read', err: error });
    } finally {
      this.#isReading = false;
    }
  }

  async #read(): Promise<void> {
    const accounts = await this.dataSource.manager.find(Account, {
      where: [{ rateMax: Not(IsNull()) }, { consentWords: Not(IsNull()) }],
    });
    this.#own = new Map(accounts.map((account) => [account.id, this.#settingsOf(account)]));
  }

  #settingsOf({ id, rateMax, ratePer, consentWords: own }: Account): OwnSettings {
    const known = this.#own.get(id);
    const words = own ?? {};
    return {
      rate: rateMax !== null && ratePer !== null ? { max: rateMax, per: ratePer } : undefined,
      words,
      // The comparison is cheaper than folding hundreds of words.
      read: JSON.stringify(known?.words) === JSON.stringify(words) ? known!.read : readerOf(words),
    };
  }
}

/**
 * Provides {@link AccountSettings} to the library's options, separate from the modules that need
 * the library.
 */
@Module({
  providers: [
    {
      provide: AccountSettings,
      useFactory: (dataSource: DataSource) => AccountSettings.open(dataSource),
      inject: [getDataSourceToken()],
    },
  ],
  exports: [AccountSettings],
})
export class AccountSettingsModule {}

/** An account's words replace the defaults of their kind; `stop` opts out on every account. */
function readerOf({ stop, start }: AccountWords): (text: string) => Reading {
  if (!stop && !start) return readDefaultWords;
  const lists = Object.values(CONSENT_WORDS);
  return consentWords({
    own: {
      stop: stop ? [...stop, 'stop'] : lists.flatMap((list) => list.stop),
      start: start ?? lists.flatMap((list) => list.start),
    },
  });
}

const LONGEST_WORD = 40;
const LONGEST_REPLY = 1_000;

/** @throws ApiError 422 naming the wrong word or reply */
export function checkWords(words: AccountWords): void {
  for (const [path, list] of Object.entries({ stop: words.stop, start: words.start }))
    for (const word of list ?? [])
      if (!/[\p{L}\p{N}]/u.test(word) || word.length > LONGEST_WORD)
        throw invalidFields([
          { path, message: `must be words of up to ${LONGEST_WORD} characters, with a letter` },
        ]);
  for (const [path, reply] of Object.entries({
    'stop-reply': words.stopReply,
    'start-reply': words.startReply,
  }))
    if (reply !== undefined && (reply.trim() === '' || reply.length > LONGEST_REPLY))
      throw invalidFields([{ path, message: `must be 1 to ${LONGEST_REPLY} characters` }]);
  try {
    readerOf(words);
  } catch {
    throw invalidFields([
      { path: 'start', message: 'holds a word that opts out as well; use another' },
    ]);
  }
}

/** Parses `50/s`, the form of `--rate` and `RATE_LIMIT`. @throws ApiError 422 */
export function parseRate(written: string): { readonly max: number; readonly per: number } {
  try {
    return rateOf('rate', written);
  } catch {
    throw invalidFields([
      { path: 'rate', message: 'must be messages per time, such as 50/s, 600/m or 10000/h' },
    ]);
  }
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
  [1, 'ms'],
];

/** The inverse of {@link parseRate}. */
export function formatRate(max: number, per: number): string {
  const [size, unit] = UNITS.find(([one]) => per % one === 0) ?? [1, 'ms'];
  return `${max}/${per === size ? '' : per / size}${unit}`;
}
