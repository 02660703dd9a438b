import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './markdown-blocks.js';

const DUNDUN = `exec '${process.execPath}' '${ROOT}/src/cli/dundun.js'`;

/**
 * The repository's own commands, in any directory. Its `npm run build…` is done already; the packages of an
 * app are there already, and `npm run build` compiles it.
 */
const COMMANDS = {
  npx: `[ "$1" = dundun ] && shift && ${DUNDUN} "$@"`,
  npm: `case "$*" in
    'run migration:run') ${DUNDUN} database migrate ;;
    'run build:gateway') exit 0 ;;
    'run build') exec '${process.execPath}' '${ROOT}/node_modules/typescript/bin/tsc' ;;
    ci | start) exit 0 ;;
    'test') [ -f package.json ] || exit 0; exec '${process.execPath}' --experimental-vm-modules '${ROOT}/node_modules/jest/bin/jest.js' ;;
    'install '* | 'uninstall '*) echo "$*" >> npm.log ;;
    *) exit 1 ;;
  esac`,
  node: `[ "$1" = dist/src/main.js ] && exec '${process.execPath}' '${ROOT}/dist/src/main.js'; exec '${process.execPath}' "$@"`,
};

/** A page whose commands run in a directory of their own. */
export class Guide {
  readonly #running: ChildProcess[] = [];
  #output = '';
  #shell: ChildProcess | undefined;
  #shellEnds: Promise<unknown> | undefined;
  #step = 0;

  private constructor(
    readonly page: string,
    readonly directory: string,
    /** Texts of the page by what the test has in their place, such as the address of a gateway. */
    private readonly places: Readonly<Record<string, string>>,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** @param name of a guide, or the path of another page, such as `README.md` */
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
    const programs = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
    return new Guide(page, directory, places, { ...env, PATH: programs });
  }

  /** Its blocks in a language, in order. */
  blocks(language: string): string[] {
    return [...this.page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
      ([, code = '']) => code,
    );
  }

  /**
   * Does what a reader does: writes the files whose names are in the line before their block, and runs the
   * commands in one shell, block after block.
   * @param count of blocks of commands @default all that are left
   * @returns what they print @throws where one fails
   */
  async walk(count = Infinity): Promise<string> {
    const steps = [
      ...this.page.matchAll(/(?:`([^`\s]+\.[a-z]+|\.env)`:\n\n)?^```(\w+)[^\n]*\n([^]*?)^```/gm),
    ];
    let [commands, printed] = [0, ''];
    for (; this.#step < steps.length; this.#step++) {
      const [, file, language, code = ''] = steps[this.#step] ?? [];
      if (file !== undefined) await this.#write(file, this.inPlace(code));
      else if (language === 'sh') {
        if (commands++ === count) break;
        printed += await this.#inShell(this.inPlace(code));
      }
    }
    return printed;
  }

  async #write(file: string, text: string): Promise<void> {
    const path = join(this.directory, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  /** In the shell of the steps before, which has their variables. */
  async #inShell(code: string): Promise<string> {
    const shell = (this.#shell ??= this.#startShell());
    await this.#write('step.sh', code);
    const before = this.#output.length;
    const done = `--done ${this.#step}--`;
    shell.stdin?.write(`source ./step.sh < /dev/null; echo '${done}'\n`);
    for (;;) {
      const printed = this.#output.slice(before);
      if (printed.includes(done)) return printed.replace(`${done}\n`, '');
      if (shell.exitCode !== null || shell.signalCode !== null)
        throw new Error(`${code}\nended with ${shell.exitCode}: ${printed}`);
      await Promise.race([once(shell.stdout!, 'data'), this.#shellEnds]);
    }
  }

  #startShell(): ChildProcess {
    const shell = this.start('bash', ['-euo', 'pipefail', '-s'], {}, 'pipe');
    this.#shellEnds = once(shell, 'exit');
    return shell;
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
    input: 'ignore' | 'pipe' = 'ignore',
  ): ChildProcess {
    // A group of its own: the guide leaves processes behind.
    const child = spawn(command, args, {
      cwd: this.directory,
      env: { ...this.env, ...more },
      stdio: [input, 'pipe', 'pipe'],
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
    for (const { pid, stdin, stdout, stderr } of this.#running)
      try {
        for (const stream of [stdin, stdout, stderr]) stream?.destroy();
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
