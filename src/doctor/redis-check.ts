import { Redis } from 'ioredis';
import { causeOf } from '../http/log-redaction.js';
import { type Check, CheckError } from './check.js';

/** Share of `maxmemory` that may be used. */
const MOST_USED = 0.9;

/** The broker of `ENGINE=bullmq`: it must never evict the jobs that wake lanes. */
export function redisCheck(url: string): Check {
  return {
    name: 'redis',
    remedy: 'check REDIS_URL, and that Redis runs',
    run: async (signal) => {
      const redis = new Redis(url, {
        lazyConnect: true,
        maxRetriesPerRequest: 0,
        retryStrategy: () => null,
      });
      // The rejected command has the reason, too.
      let reason: unknown;
      redis.on('error', (error) => (reason = error));
      signal.addEventListener('abort', () => redis.disconnect(), { once: true });
      try {
        await redis.connect();
        return verdictOf(await redis.info());
      } catch (error) {
        if (error instanceof CheckError) throw error;
        throw new CheckError(`it refuses the connection (${refusalOf(reason ?? error)})`);
      } finally {
        redis.disconnect();
      }
    },
  };
}

function verdictOf(info: string): string {
  const of = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  const policy = of('maxmemory_policy');
  if (policy !== 'noeviction')
    throw new CheckError(
      `maxmemory-policy is ${policy}: Redis may delete the jobs that wake lanes`,
      'CONFIG SET maxmemory-policy noeviction, and in its configuration',
    );
  if (of('role') === 'slave')
    throw new CheckError('it is a read-only replica', 'name the primary in REDIS_URL');
  const [used, most] = [Number(of('used_memory')), Number(of('maxmemory'))];
  if (most > 0 && used > most * MOST_USED)
    throw new CheckError(
      `${Math.round((100 * used) / most)} % of maxmemory are used`,
      'raise maxmemory: a full Redis takes no more jobs',
    );
  return 'it evicts nothing';
}

/** The word with which Redis refuses, such as `WRONGPASS`, or the code of the error. */
function refusalOf(error: unknown): string {
  const [word] = (error instanceof Error && /^[A-Z]{4,}\b/.exec(error.message)) || [];
  return word ?? causeOf(error);
}
