import { transformFile } from '@swc/core';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** The gateway compiled into a directory of its own, so that a process of it can be killed. */
export class CompiledGateway {
  private constructor(readonly directory: string) {}

  static async make(): Promise<CompiledGateway> {
    const cache = join(root, 'node_modules/.cache');
    await mkdir(cache, { recursive: true });
    const made = new CompiledGateway(await mkdtemp(join(cache, 'dundun-gateway-')));
    const library = join(made.directory, 'node_modules/@dundun/messaging');
    await compile('src', join(made.directory, 'src'));
    await compile('libs/messaging/src', join(library, 'dist'));
    await cp(join(root, 'libs/messaging/package.json'), join(library, 'package.json'));
    await writeFile(join(made.directory, 'package.json'), '{"type":"module"}');
    return made;
  }

  /** Resolves once it listens and, on the first start of a database, has shown its token. */
  start(
    environment: Readonly<Record<string, string>>,
    { first = false } = {},
  ): Promise<GatewayProcess> {
    const child = spawn(process.execPath, [join(this.directory, 'src/main.js')], {
      cwd: this.directory,
      env: { PATH: process.env.PATH, NODE_ENV: 'development', PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return GatewayProcess.listening(child, first);
  }

  remove(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}

export class GatewayProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    /** Of the demo account, where this process made it. */
    readonly token: string | undefined,
  ) {}

  static listening(child: ChildProcess, first: boolean): Promise<GatewayProcess> {
    return new Promise((resolve, reject) => {
      let output = '';
      const hear = (chunk: Buffer) => {
        output += chunk.toString();
        const url = /"url":"(http:[^"]+)"/.exec(output)?.[1];
        const token = /\btok_\w+/.exec(output)?.[0];
        if (!url || (first && !token)) return;
        output = '';
        resolve(new GatewayProcess(child, url, token));
      };
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
      child.once('exit', () => reject(new Error(`the gateway did not start: ${output}`)));
    });
  }

  async call(
    token: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }
}

async function compile(from: string, to: string): Promise<void> {
  const files = await readdir(join(root, from), { recursive: true });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
  await Promise.all(
    sources.map((file) =>
      compileFile(join(root, from, file), join(to, file.replace(/\.ts$/, '.js'))),
    ),
  );
}

async function compileFile(source: string, target: string): Promise<void> {
  const { code } = await transformFile(source, { cwd: root, configFile: join(root, '.swcrc') });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}
