import { Command, CommanderError } from 'commander';
import { addAccountCommands } from './account.commands.js';
import { addBatchCommands, addLaneCommands } from './message.commands.js';
import { addConfigCommands } from './config.commands.js';
import { printUsageError } from './output.js';
import { run } from './run.js';
import { addWebhookCommands } from './webhook.commands.js';
import { addWhatsAppCommands } from './whatsapp.commands.js';

/**
 * Runs the command in `argv`, which has the form of `process.argv`. Wrong usage does not reject the
 * promise.
 */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const json = argv.includes('--json');
  const program = new Command('dundun')
    .description(
      "Operates a Dundun gateway: works on the gateway's database, beside it where it runs.",
    )
    .addHelpText(
      'after',
      '\nSettings come from the environment and .env; docs/configuration.md lists them.',
    )
    .exitOverride()
    .configureOutput(json ? { writeErr: () => undefined } : {});
  addAccountCommands(program, run);
  addWebhookCommands(program, run);
  addWhatsAppCommands(program, run);
  addLaneCommands(program, run);
  addBatchCommands(program, run);
  addConfigCommands(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) printUsageError(error.message, { json });
  }
}
