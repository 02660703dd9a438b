import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const PRISM = join(
  dirname(createRequire(import.meta.url).resolve('@stoplight/prism-cli/package.json')),
  'dist/index.js',
);
const LISTENING = /Prism is listening on (http:\S+)/;

/** Stoplight's proxy in front of a service, which holds both sides to the service's own document. */
export class Prism {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  /** @param errors answer with the violation itself, in place of the service's answer */
  static async before(service: string, { errors }: { errors: boolean }): Promise<Prism> {
    const directory = await mkdtemp(join(tmpdir(), 'dundun-prism-'));
    const document = join(directory, 'openapi.json');
    await writeFile(document, await (await fetch(`${service}/openapi.json`)).text());
    const args = ['proxy', document, service, '--host', '127.0.0.1', '--port', '0'];
    const child = spawn(process.execPath, [PRISM, ...args, ...(errors ? ['--errors'] : [])], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Prism(await listening(child), child, directory);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await once(this.child, 'exit');
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Which part of which message was not as documented, as the proxy tells it. */
export interface Violation {
  readonly location: readonly string[];
  readonly message: string;
}

export function violationsOf(headers: Headers): Violation[] {
  return JSON.parse(headers.get('sl-violations') ?? '[]') as Violation[];
}

async function listening(child: ChildProcess): Promise<string> {
  let output = '';
  const url = new Promise<string>((resolve) => {
    const hear = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = LISTENING.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`Prism did not start: ${output}`);
  });
  ended.catch(() => undefined);
  return Promise.race([url, ended]);
}
