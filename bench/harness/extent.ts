/** Extent of a measurement. */
export interface Extent {
  /** Milliseconds of one run of one side. */
  readonly ms: number;
  readonly rounds: number;
}

/** Options of the command line: `--short`, `--only=A1,A3`, `--ms=1000`, `--rounds=9`. */
export interface Request extends Extent {
  readonly form: 'short' | 'full';
  wants(id: string): boolean;
}

export function request(short: Extent, full: Extent): Request {
  const form = process.argv.includes('--short') ? 'short' : 'full';
  const { ms, rounds } = form === 'short' ? short : full;
  const only = option('only')?.split(',');
  return {
    form,
    ms: Number(option('ms') ?? ms),
    rounds: Number(option('rounds') ?? rounds),
    wants: (id) => !only || only.includes(id),
  };
}

export function option(name: string): string | undefined {
  return process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
}
