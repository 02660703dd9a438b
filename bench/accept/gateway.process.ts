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
    const profile = process.env['BENCH_PROFILE'];
    const main = new URL('../../src/main.js', import.meta.url).pathname;
    const child = spawn(
      process.execPath,
      [...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []), main],
      {
        env: {
          PATH: process.env['PATH'],
          DATABASE_URL: databaseUrl,
          PORT: '0',
          LOG_LEVEL: 'warn',
          // All load uses one credential; the request limit is still counted.
          REQUEST_LIMIT: '100000000/s',
          ...(process.env['BENCH_RATE_LIMIT'] && { RATE_LIMIT: process.env['BENCH_RATE_LIMIT'] }),
          ...settings,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const told = await Promise.race([
      bannerOf(child),
      once(child, 'exit').then(() => {
        throw new Error('the gateway ended before it listened');
      }),
    ]);
    child.stdout?.resume();
    return new GatewayProcess(child, told.url, told.token);
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
