import { statfs } from 'node:fs/promises';
import { type Check, CheckError } from './check.js';

/** Least free bytes. */
const LEAST = 1 << 30;

/** The disk of a directory, which the gateway writes to. @param what that is on it */
export function diskCheck(directory: string, what: string): Check {
  return {
    name: 'disk',
    remedy: `check the directory of ${what}`,
    run: async () => {
      const { bavail, bsize } = await statfs(directory);
      const free = bavail * bsize;
      const shown = `${Math.floor(free / (1 << 20)).toLocaleString('en')} MiB are free on the disk of ${what}`;
      if (free < LEAST)
        throw new CheckError(
          shown,
          'free or add space: below 1 GiB the database may stop to take writes',
        );
      return shown;
    },
  };
}
