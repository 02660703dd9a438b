import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const settings = [
  '.oxlintrc.json',
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'tsconfig.app.json',
  'libs/dashboard/package.json',
  'libs/dashboard/tsconfig.json',
  'libs/messaging/package.json',
  'libs/messaging/tsconfig.json',
  'libs/smpp/package.json',
  'libs/smpp/tsconfig.json',
];

export interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

/** Lints these files in their own directory with the project's configuration. */
export async function lint(files: Record<string, string>): Promise<Diagnostic[]> {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-layers-'));
  try {
    await Promise.all(
      settings.map((path) => cp(join(root, path), join(directory, path), { recursive: true })),
    );
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), `${text}\n`);
    }
    const { stdout, stderr } = await run(directory);
    try {
      return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics;
    } catch (cause) {
      throw new Error(`lint did not run: ${stdout}${stderr}`, { cause });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function run(cwd: string): Promise<{ stdout: string; stderr: string }> {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  return new Promise((resolve) => {
    const args = [oxlint, '--format=json', 'libs', 'src', 'ormconfig.ts'];
    execFile(process.execPath, args, { cwd }, (_error, stdout, stderr) => {
      resolve({ stdout, stderr });
    });
  });
}
