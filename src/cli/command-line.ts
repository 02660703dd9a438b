import { CommanderError } from 'commander';
import { addAccountCommands } from './account.commands.js';
import { addBackupCommands } from './backup.commands.js';
import { addDoNotCallCommands, addSuppressionCommands } from './blocked.commands.js';
import { addCarrierCommands } from './carrier.commands.js';
import { addConfigCommands } from './config.commands.js';
import { addContactCommands } from './contact.commands.js';
import { addEmailCommands } from './email.commands.js';
import {
  addBatchCommands,
  addLaneCommands,
  addMessageCommands,
  addReportCommands,
} from './message.commands.js';
import { OperatorCommand } from './operator-command.js';
import { printError } from './output.js';
import { addSecretsCommands } from './secrets.commands.js';
import { addCallerCommands, addSenderCommands } from './sender.commands.js';
import { addSmppCommands } from './smpp.commands.js';
import { addUserCommands } from './user.commands.js';
import { addVasCommands } from './vas.commands.js';
import { addWebhookCommands } from './webhook.commands.js';
import { addWhatsAppCommands } from './whatsapp.commands.js';

/** `argv` has the form of `process.argv`. Wrong usage does not reject the promise. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const json = argv.includes('--json');
  const program = new OperatorCommand('dundun')
    .description(
      "Operates a Dundun gateway: works on the gateway's database, beside it where it runs.",
    )
    .addHelpText(
      'after',
      '\nSettings come from the environment and .env; docs/configuration.md lists them.',
    )
    .exitOverride()
    .configureOutput(json ? { writeErr: () => undefined } : {});
  addAccountCommands(program);
  addUserCommands(program);
  addSenderCommands(program);
  addCallerCommands(program);
  addDoNotCallCommands(program);
  addSmppCommands(program);
  addWebhookCommands(program);
  addWhatsAppCommands(program);
  addEmailCommands(program);
  addSuppressionCommands(program);
  addLaneCommands(program);
  addBatchCommands(program);
  addMessageCommands(program);
  addReportCommands(program);
  addBackupCommands(program);
  addSecretsCommands(program);
  addContactCommands(program);
  addVasCommands(program);
  addCarrierCommands(program);
  addConfigCommands(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) process.exitCode = 1;
    // Without `--json` the command parser has already printed it.
    if (error.exitCode !== 0 && json) printError(error, { json });
  }
}
