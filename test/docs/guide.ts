import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './markdown-blocks.js';

/** The repository's own commands, in any directory, and `curl`. `npm run …` is done already. */
const COMMANDS = {
  npx: `[ "$1" = dundun ] && shift && exec '${process.execPath}' '${ROOT}/src/cli/dundun.js' "$@"`,
  npm: '[ "$1" = run ]',
  // An answer of 4xx or 5xx fails the block.
  curl: `exec $(which -a curl | sed -n 2p) --silent --show-error --fail-with-body "$@"`,
  node: `[ "$1" = dist/src/main.js ] && exec '${process.execPath}' '${ROOT}/dist/src/main.js'; exec '${process.execPath}' "$@"`,
};

/** A page whose commands run in a directory of their own. */
export class Guide {
  readonly #running: ChildProcess[] = [];
  #output = '';

  private constructor(
    readonly page: string,
    readonly directory: string,
    /** Texts of the page by what the test has in their place, such as the address of a gateway. */
    private readonly places: Readonly<Record<string, string>>,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** @param name of a guide, or the path of another page, such as `docs/vas.md` */
  static async open(
    name: string,
    places: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Guide> {
    const path = name.endsWith('.md') ? name : `docs/guides/${name}.md`;
    const page = await readFile(join(ROOT, path), 'utf8');
    const directory = await mkdtemp(join(tmpdir(), 'dundun-guide-'));
    await mkdir(join(directory, 'bin'));
    for (const [command, text] of Object.entries(COMMANDS))
      await writeFile(join(directory, 'bin', command), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const PATH = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
    return new Guide(page, directory, places, { ...env, PATH });
  }

  /** Its blocks in a language, in order. */
  blocks(language: string): string[] {
    return [...this.page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
      ([, code = '']) => code,
    );
  }

  /** Runs shell code to its end. @returns its output @throws where it fails */
  async run(code: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = this.start('bash', ['-euo', 'pipefail', '-c', this.inPlace(code)], more);
    let [out, errors] = ['', ''];
    child.stdout?.on('data', (chunk: Buffer) => (out += String(chunk)));
    child.stderr?.on('data', (chunk: Buffer) => (errors += String(chunk)));
    const [status] = (await once(child, 'exit')) as [number | null];
    if (status !== 0) throw new Error(`${code}\nended with ${status}: ${out}${errors}`);
    return out;
  }

  /** Starts a program of the guide. */
  start(
    command: string,
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): ChildProcess {
    // A group of its own: the guide leaves processes behind.
    const child = spawn(command, args, {
      cwd: this.directory,
      env: { ...this.env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#running.push(child);
    const keep = (chunk: Buffer) => void (this.#output += String(chunk));
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    return child;
  }

  /** What its programs have printed. */
  get output(): string {
    return this.#output;
  }

  inPlace(text: string): string {
    return Object.entries(this.places).reduce(
      (placed, [written, own]) => placed.replaceAll(written, own),
      text,
    );
  }

  async close(): Promise<void> {
    for (const { pid } of this.#running)
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
