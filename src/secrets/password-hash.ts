import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { ApiError } from '../http/api-error.js';
import { FairQueue } from './fair-queue.js';

/** 32 MiB and about a quarter of a second each: OWASP's parameters of 2025. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 << 20 } as const;
const HASH_BYTES = 32;

/** Node has four threads for hashes, files and DNS; the event loop keeps a core. */
const MOST_AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1));

/** Most of a class that wait for their turn, about ten seconds. */
const MOST_WAITING = 40 * MOST_AT_ONCE;

/** How long a right password is known without a hash, in milliseconds, and how many are. */
const VERIFIED = { for: 300_000, most: 10_000 };

/**
 * Path of the shares that the caller's hashes wait in, from the class down: `smpp`, `portal`, `known`
 * (browsers and networks that have signed in to the name before) or `command line`; then networks.
 */
export type HashShare = readonly [
  kind: 'portal' | 'known' | 'smpp' | 'command line',
  ...shares: string[],
];

const COMMAND_LINE: HashShare = ['command line'];

const derive = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt);

/** Starts a waiting hash, or refuses it. */
type Waiting = (isTurn: boolean) => void;

const waiting = new FairQueue<Waiting>(MOST_WAITING);
let running = 0;

/** Whether the turn came; false where the class is full and this share the largest. */
function turnIn(share: HashShare): Promise<boolean> {
  return new Promise((resolve) => {
    const refused = waiting.push(share, resolve);
    refused?.(false);
  });
}

export function tooManySignIns(): ApiError {
  return new ApiError('unavailable', 'Too many people sign in at the moment; try again', {
    headers: { 'retry-after': '5' },
  });
}

/** @throws ApiError 503 where too many wait */
async function hash(password: string, salt: Buffer, share: HashShare): Promise<Buffer> {
  if (running < MOST_AT_ONCE) running++;
  else if (!(await turnIn(share))) throw tooManySignIns();
  try {
    return await derive(password.normalize('NFKC'), salt, HASH_BYTES, COST);
  } finally {
    // The next one takes over this turn.
    const next = waiting.shift();
    if (next) next(true);
    else running--;
  }
}

/** A text for the database, with salt and parameters. @throws ApiError 503 */
export async function hashPassword(
  password: string,
  share: HashShare = COMMAND_LINE,
): Promise<string> {
  const salt = randomBytes(16);
  const { N, r, p } = COST;
  const hashed = await hash(password, salt, share);
  return ['scrypt', N, r, p, salt.toString('base64url'), hashed.toString('base64url')].join('$');
}

/**
 * Takes the same time without a stored hash: then the answer is false. A password that was right a
 * moment ago needs no hash. @throws ApiError 503
 */
export async function isPasswordOf(
  password: string,
  stored: string | undefined,
  share: HashShare,
): Promise<boolean> {
  if (stored !== undefined && verified.has(password, stored)) return true;
  const [, , , , salt = '', expected = ''] = stored?.split('$') ?? [];
  const given = await hash(password, Buffer.from(salt, 'base64url'), share);
  const wanted = Buffer.from(expected, 'base64url');
  const isRight = wanted.length === HASH_BYTES && timingSafeEqual(given, wanted);
  if (isRight && stored !== undefined) verified.add(password, stored);
  return isRight;
}

/** Digests of right passwords under a key of this process. A new stored hash makes them worthless. */
class VerifiedPasswords {
  readonly #key = randomBytes(32);
  /** Oldest first; epoch of `performance.now()`. */
  readonly #until = new Map<string, number>();

  has(password: string, stored: string): boolean {
    const until = this.#until.get(this.#digest(password, stored));
    return until !== undefined && performance.now() < until;
  }

  add(password: string, stored: string): void {
    const digest = this.#digest(password, stored);
    this.#until.delete(digest);
    this.#until.set(digest, performance.now() + VERIFIED.for);
    const [oldest] = this.#until.keys();
    if (this.#until.size > VERIFIED.most && oldest !== undefined) this.#until.delete(oldest);
  }

  #digest(password: string, stored: string): string {
    const text = JSON.stringify([stored, password.normalize('NFKC')]);
    return createHmac('sha256', this.#key).update(text).digest('base64');
  }
}

const verified = new VerifiedPasswords();
