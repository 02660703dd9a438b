import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Problems of a document by the rules that a linter recommends, each with its place. */
type Linter = (document: unknown) => Promise<string[]>;

interface RedoclyAnswer {
  readonly problems: readonly {
    readonly severity: string;
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly { readonly pointer: string }[];
  }[];
}

type SpectralAnswer = readonly {
  readonly code: string;
  readonly message: string;
  readonly path: readonly (string | number)[];
}[];

const redocly: Linter = async (document) => {
  const { problems } = await answerOf<RedoclyAnswer>('@redocly/cli', 'redocly', document, [
    '--extends=recommended',
    '--format=json',
    '--max-problems=1000',
  ]);
  return problems.map(
    ({ severity, ruleId, message, location }) =>
      `${severity} ${ruleId} ${location[0]?.pointer}: ${message}`,
  );
};

const spectral: Linter = async (document) => {
  const found = await answerOf<SpectralAnswer>('@stoplight/spectral-cli', 'spectral', document, [
    '--ruleset=ruleset.json',
    '--format=json',
    '--quiet',
  ]);
  return found.map(({ code, message, path }) => `${code} ${path.join('/')}: ${message}`);
};

export const LINTERS = [
  ['redocly lint', redocly],
  ['spectral lint', spectral],
] as const;

const require = createRequire(import.meta.url);

/** Runs `lint` of a package in a directory of its own, where no configuration changes its rules. */
async function answerOf<T>(
  name: string,
  command: string,
  document: unknown,
  options: readonly string[],
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-openapi-'));
  try {
    await writeFile(join(directory, 'openapi.json'), JSON.stringify(document));
    await writeFile(join(directory, 'ruleset.json'), JSON.stringify({ extends: 'spectral:oas' }));
    const manifest = require.resolve(`${name}/package.json`);
    const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: Record<string, string> };
    const script = join(dirname(manifest), bin[command] ?? '');
    const stdout = await run([script, 'lint', 'openapi.json', ...options], directory);
    return JSON.parse(stdout) as T;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What the script prints; a status that tells of problems is no failure. */
function run(args: readonly string[], directory: string): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) => {
    const options = { cwd: directory, env, maxBuffer: 2 ** 26 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error && stdout === '') reject(new Error(`${error.message}\n${stderr}`));
      else resolve(stdout);
    });
  });
}
