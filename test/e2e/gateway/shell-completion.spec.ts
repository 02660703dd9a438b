import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandLine } from './command-line.js';

/** How a shell is asked for the words after `line`, with the script in `file`. */
const SHELLS: Readonly<
  Record<string, (file: string, words: readonly string[]) => readonly string[]>
> = {
  bash: (file, words) => [
    '-c',
    `. ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _dundun; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  fish: (file, words) => ['-c', `source ${file}; complete -C '${words.join(' ')}'`],
  // As zsh itself calls functions of bash.
  zsh: (file, words) => [
    '-fc',
    `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; () { setopt localoptions ksharrays; _dundun; printf '%s\\n' "\${COMPREPLY[@]}" }`,
  ],
};

const isInstalled = (shell: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, shell)));

describe('dundun completion', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-completion-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function completed(shell: string, words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await commandLine(['completion', shell], {}, directory);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const file = join(directory, `completion.${shell}`);
    await writeFile(file, stdout);
    const args = SHELLS[shell]?.(file, words) ?? [];
    return (await promisify(execFile)(shell, args, { cwd: directory })).stdout;
  }

  it.each(Object.keys(SHELLS).filter(isInstalled))(
    '%s completes commands, options and their choices',
    async (shell) => {
      const commands = await completed(shell, ['dundun', 'account', 're']);
      expect(commands).toContain('resume');
      expect(commands).not.toContain('rotate');
      const options = await completed(shell, ['dundun', 'account', 'resume', '--sch']);
      expect(options).toContain('--scheduled');
      const choices = ['dundun', 'account', 'resume', '--account', 'a', '--scheduled', 'c'];
      expect(await completed(shell, choices)).toContain('cancel');
      expect(await completed(shell, ['dundun', 'webhooks', 'en'])).toContain('enable');
      expect(await completed(shell, ['dundun', 'completion', 'fi'])).toContain('fish');
    },
  );

  it('an unknown shell is an error that names the known ones', async () => {
    const { code, stderr } = await commandLine(['completion', 'csh'], {}, directory);
    expect(code).toBe(1);
    expect(stderr).toMatch(/bash, zsh, fish/);
  });
});
