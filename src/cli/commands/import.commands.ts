import { writeFile } from 'node:fs/promises';
import { dump } from 'js-yaml';
import { carriersOf } from '../../carriers/kannel-import/kannel-carriers.js';
import { KannelFileError, readKannelFile } from '../../carriers/kannel-import/kannel-file.js';
import { invalidField } from '../../http/api-error.js';
import type { OperatorCommand } from '../operator-command.js';

interface ImportOptions {
  readonly to: string;
}

const HEAD = `# Carriers of a Kannel configuration, made by \`dundun import kannel\`. It has passwords: keep it from others,
# or write \${NAME} in their place and set the variables. docs/carriers.md has every key.
`;

export function addImportCommands(imports: OperatorCommand): void {
  imports
    .subcommand('kannel', 'make a CARRIERS_FILE of a Kannel configuration; touches no database')
    .argument(
      '<file>',
      'its main file, such as /etc/kannel/kannel.conf; included ones are read too',
    )
    .option('--to <file>', 'the file to make; an existing one is refused', 'carriers.yaml')
    .addHelpText(
      'after',
      `
It prints what has no counterpart, each with its remedy, and no secret. Exit code 0: every SMSC is a
carrier; 1: the file is made and an SMSC is left out, or it is not made and the error says why.

Then: CARRIERS_FILE=carriers.yaml npx dundun config check`,
    )
    .prints(async ({ to }: ImportOptions, file = '') => {
      const groups = await readKannelFile(file).catch((error: unknown) => {
        if (error instanceof KannelFileError) throw invalidField('file', error.message);
        throw error;
      });
      const { carriers, routes, without, leftOut } = carriersOf(groups);
      const names = Object.entries(carriers).map(([carrier, { type }]) => ({ carrier, type }));
      if (names.length === 0) throw invalidField('file', noCarrier(groups.length, without));
      await make(to, HEAD + dump({ carriers, routes }, { lineWidth: -1 }));
      if (leftOut > 0) process.exitCode = 1;
      return { file: to, carriers: names, remedies: without };
    });
}

function noCarrier(
  groups: number,
  without: readonly { readonly what: string; readonly remedy: string }[],
): string {
  const left = without
    .filter(({ what }) => what.startsWith('smsc '))
    .map(({ what, remedy }) => `${what}: ${remedy}`);
  return left.length > 0
    ? left.join('; ')
    : `has ${groups} groups and none of them is an SMSC (\`group = smsc\`); name the file of bearerbox`;
}

/** With the rights of its owner alone, as it has passwords. */
async function make(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    const rule =
      code === 'EEXIST' ? 'exists; name another file, or remove it' : `cannot be made (${code})`;
    throw invalidField('to', `${file} ${rule}`);
  });
}
