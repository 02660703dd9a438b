import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** The gateway as `npm start` runs it, on a free port and an empty database. */
export class GatewayProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    readonly token: string,
  ) {}

  /** @param settings further variables of its environment */
  static async start(
    databaseUrl: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<GatewayProcess> {
    const child = launch(databaseUrl, { LOG_LEVEL: 'warn', ...settings });
    const { url, token } = await orEnd(child, bannerOf(child));
    child.stdout?.resume();
    return new GatewayProcess(child, url, token);
  }

  /** Starts the gateway on a database of an earlier one. @returns once it listens; without a token */
  static async restart(
    databaseUrl: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<GatewayProcess> {
    const child = launch(databaseUrl, { LOG_LEVEL: 'info', ...settings });
    const url = await orEnd(child, listeningAt(child));
    child.stdout?.resume();
    return new GatewayProcess(child, url, '');
  }

  /** Begins the CPU profile of a stage, and ends the former; `null` only ends it. With `BENCH_STAGES` alone. */
  async profile(stage: string | null): Promise<void> {
    if (!this.child.channel) return;
    const changed = once(this.child, 'message');
    this.child.send({ profile: stage });
    await changed;
  }

  get pid(): number {
    return this.child.pid as number;
  }

  async stop(): Promise<void> {
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
  }
}

function launch(databaseUrl: string, settings: Readonly<Record<string, string>>): ChildProcess {
  const profile = process.env['BENCH_PROFILE'];
  const stages = settings['BENCH_STAGES'];
  const main = new URL('../../../src/main.js', import.meta.url).pathname;
  const wholeRun = profile && !stages ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
  const byStage = stages
    ? ['--import', new URL('../harness/stage.profile.js', import.meta.url).href]
    : [];
  return spawn(process.execPath, [...wholeRun, ...byStage, main], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      PORT: '0',
      // All load uses one credential; the request limit is still counted.
      REQUEST_LIMIT: '100000000/s',
      ...(process.env['BENCH_RATE_LIMIT'] && { RATE_LIMIT: process.env['BENCH_RATE_LIMIT'] }),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit', ...(stages ? (['ipc'] as const) : [])],
  });
}

function orEnd<T>(child: ChildProcess, told: Promise<T>): Promise<T> {
  return Promise.race([
    told,
    once(child, 'exit').then(() => {
      throw new Error('the gateway ended before it listened');
    }),
  ]);
}

/** The URL in the log line that says that the gateway listens. */
async function listeningAt(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new TypeError('no stdout');
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes('"msg":"listening"')) continue;
    return (JSON.parse(line) as { readonly url: string }).url;
  }
  throw new Error('the gateway did not listen');
}

/** Credentials that a first start prints once. */
async function bannerOf(child: ChildProcess): Promise<{ url: string; token: string }> {
  if (!child.stdout) throw new TypeError('no stdout');
  let token: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    token ??= /API token\s+(\S+)/.exec(line)?.[1];
    const url = /curl -X POST (http:\/\/[^/]+)/.exec(line)?.[1];
    if (url && token) return { url, token };
  }
  throw new Error('the gateway printed no token');
}
