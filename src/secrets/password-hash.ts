import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError } from '../http/api-error.js';

/** 32 MiB and about a quarter of a second each: OWASP's parameters of 2025. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 << 20 } as const;
const HASH_BYTES = 32;

/** Node has four threads for hashes, files and DNS. */
const MOST_AT_ONCE = 2;

/** Most that wait for their turn, about ten seconds. */
const MOST_WAITING = 80;

const derive = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt);

const waiting: (() => void)[] = [];
let running = 0;

/** @throws ApiError 503 where too many wait */
async function hash(password: string, salt: Buffer): Promise<Buffer> {
  if (running < MOST_AT_ONCE) running++;
  else if (waiting.length < MOST_WAITING)
    await new Promise<void>((resolve) => void waiting.push(resolve));
  else throw new ApiError('unavailable', 'Too many people sign in at the moment; try again');
  try {
    return await derive(password.normalize('NFKC'), salt, HASH_BYTES, COST);
  } finally {
    // The next one takes over this turn.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** A text for the database, with salt and parameters. @throws ApiError 503 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const { N, r, p } = COST;
  return ['scrypt', N, r, p, salt.toString('base64url'), toText(await hash(password, salt))].join(
    '$',
  );
}

/**
 * Takes the same time without a stored hash: then the answer is false. @throws ApiError 503
 */
export async function isPasswordOf(password: string, stored: string | undefined): Promise<boolean> {
  const [, , , , salt = '', expected = ''] = stored?.split('$') ?? [];
  const given = await hash(password, Buffer.from(salt, 'base64url'));
  const wanted = Buffer.from(expected, 'base64url');
  return wanted.length === HASH_BYTES && timingSafeEqual(given, wanted);
}

function toText(bytes: Buffer): string {
  return bytes.toString('base64url');
}
