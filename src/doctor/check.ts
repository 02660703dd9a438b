import { causeOf } from '../http/log-redaction.js';

/** One line of `dundun doctor` and of the page Health. */
export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** `null`: nothing is to be done. */
  readonly remedy: string | null;
}

/** Something that is right or wrong. It sends nothing, and changes nothing. */
export interface Check {
  readonly name: string;
  /** What to do where it fails without a remedy of its own, such as at its deadline. */
  readonly remedy: string;
  /**
   * @returns the detail of a check that passes
   * @throws CheckError where it fails
   */
  readonly run: (signal: AbortSignal) => string | Promise<string>;
}

/** A check that fails. Neither text has a secret, or the whole address or number of a person. */
export class CheckError extends Error {
  override readonly name = 'CheckError';

  /** @param remedy @default that of the check */
  constructor(
    detail: string,
    readonly remedy?: string,
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}

interface Limits {
  /** Deadline of each check, in milliseconds. @default 10_000 */
  readonly deadline?: number;
  /** Most checks that run at once. @default 8 */
  readonly concurrency?: number;
}

/** The results in the order of the checks. */
export async function runChecks(
  checks: readonly Check[],
  { deadline = 10_000, concurrency = 8 }: Limits = {},
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const waiting = checks.entries();
  const runner = async (): Promise<void> => {
    for (const [index, check] of waiting) results[index] = await resultOf(check, deadline);
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  return results;
}

async function resultOf({ name, remedy, run }: Check, deadline: number): Promise<CheckResult> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new CheckError(`no answer within ${deadline / 1_000} s`));
      over.abort(new DOMException('The deadline of the check is over', 'TimeoutError'));
    }, deadline);
  });
  try {
    const detail = await Promise.race([Promise.resolve(over.signal).then(run), late]);
    return { name, ok: true, detail, remedy: null };
  } catch (error) {
    if (error instanceof CheckError)
      return { name, ok: false, detail: error.message, remedy: error.remedy ?? remedy };
    return { name, ok: false, detail: causeOf(error), remedy };
  } finally {
    clearTimeout(timer);
  }
}

/** Says that there are more of a kind than are examined. */
export function furtherLine(kind: string, found: number, most: number): Check[] {
  if (found <= most) return [];
  const run = () => `the first ${most} are examined; there are more`;
  return [{ name: `further ${kind}s`, remedy: '', run }];
}
