import { CommanderError } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addCompletionCommands } from './commands/completion.commands.js';
import { OperatorCommand } from './operator-command.js';
import { type OutputOptions, printError } from './output.js';

interface Group {
  readonly name: string;
  readonly description: string;
  readonly alias?: string;
  /** Loads what adds its subcommands, or its options and its work. */
  readonly load: () => Promise<(group: OperatorCommand) => void>;
}

/** Commands in the order of the help. Only the modules of those in the arguments are loaded. */
const GROUPS: readonly Group[] = [
  {
    name: 'account',
    description: 'make, list, suspend and resume accounts',
    load: async () => (await import('./commands/account.commands.js')).addAccountCommands,
  },
  {
    name: 'token',
    description: 'API tokens',
    load: async () => (await import('./commands/account.commands.js')).addTokenCommands,
  },
  {
    name: 'key',
    description: 'API keys, for email, WhatsApp, notifications and contacts',
    load: async () => (await import('./commands/account.commands.js')).addKeyCommands,
  },
  {
    name: 'user',
    description: 'users of the web portal',
    load: async () => (await import('./commands/user.commands.js')).addUserCommands,
  },
  {
    name: 'sender',
    description: 'sender IDs',
    load: async () => (await import('./commands/sender.commands.js')).addSenderCommands,
  },
  {
    name: 'caller',
    description: 'caller ids, the numbers that accounts call from',
    load: async () => (await import('./commands/sender.commands.js')).addCallerCommands,
  },
  {
    name: 'do-not-call',
    description: 'numbers that get no marketing calls',
    load: async () => (await import('./commands/blocked.commands.js')).addDoNotCallCommands,
  },
  {
    name: 'smpp',
    description: 'system_ids and passwords with which accounts bind',
    load: async () => (await import('./commands/smpp.commands.js')).addSmppCommands,
  },
  {
    name: 'webhook',
    alias: 'webhooks',
    description: 'endpoints for callbacks: set, list, enable, redeliver',
    load: async () => (await import('./commands/webhook.commands.js')).addWebhookCommands,
  },
  {
    name: 'number',
    description: 'numbers of accounts: they send WhatsApp messages, and get what is sent to them',
    load: async () => (await import('./commands/whatsapp.commands.js')).addNumberCommands,
  },
  {
    name: 'template',
    description: 'WhatsApp templates',
    load: async () => (await import('./commands/whatsapp.commands.js')).addTemplateCommands,
  },
  {
    name: 'domain',
    description: 'domains that an account sends email from',
    load: async () => (await import('./commands/email.commands.js')).addDomainCommands,
  },
  {
    name: 'suppression',
    description: 'e-mail addresses that an account sends nothing to',
    load: async () => (await import('./commands/blocked.commands.js')).addSuppressionCommands,
  },
  {
    name: 'billing',
    description: 'how accounts pay, their balances and entries',
    load: async () => (await import('./commands/billing.commands.js')).addBillingCommands,
  },
  {
    name: 'rates',
    description: 'what accounts pay: rate cards and their versions',
    load: async () => (await import('./commands/rates.commands.js')).addRatesCommands,
  },
  {
    name: 'lanes',
    description: 'lanes that are held, paused or have due work',
    load: async () => (await import('./commands/message.commands.js')).addLaneCommands,
  },
  {
    name: 'batches',
    description: 'look at batches, cancel them',
    load: async () => (await import('./commands/message.commands.js')).addBatchCommands,
  },
  {
    name: 'messages',
    description: 'find messages, send them again, settle them',
    load: async () => (await import('./commands/message.commands.js')).addMessageCommands,
  },
  {
    name: 'reports',
    description: 'look at reports of the carrier',
    load: async () => (await import('./commands/message.commands.js')).addReportCommands,
  },
  {
    name: 'backup',
    description: 'copy the SQLite database to a file, also while the gateway runs',
    load: async () => (await import('./commands/backup.commands.js')).addBackupCommand,
  },
  {
    name: 'restore',
    description: 'a database that was restored from a backup: its lanes are held',
    load: async () => (await import('./commands/backup.commands.js')).addRestoreCommand,
  },
  {
    name: 'secrets',
    description: 'the secrets that the database holds',
    load: async () => (await import('./commands/secrets.commands.js')).addSecretsCommands,
  },
  {
    name: 'contact',
    description: 'people that an account writes to',
    load: async () => (await import('./commands/contact.commands.js')).addContactCommands,
  },
  {
    name: 'vas',
    description: 'orders of airtime and data',
    load: async () => (await import('./commands/vas.commands.js')).addVasCommands,
  },
  {
    name: 'carriers',
    description: 'the ways out: what each carries, whether it accepts, its rate and share',
    load: async () => (await import('./commands/carrier.commands.js')).addCarriersCommand,
  },
  {
    name: 'doctor',
    description:
      'check carriers, database, clock, disk, DNS and webhooks; sends and changes nothing',
    load: async () => (await import('./commands/doctor.commands.js')).addDoctorCommand,
  },
  {
    name: 'probe',
    description: 'send to your test phones, and see whether what carriers report has arrived',
    load: async () => (await import('./commands/probe.commands.js')).addProbeCommand,
  },
  {
    name: 'insights',
    description: 'messages by outcome, price and cost, and reports that are doubted',
    load: async () => (await import('./commands/insights.commands.js')).addInsightsCommands,
  },
  {
    name: 'alerts',
    description: 'what needs attention: alerts, their rules, and the channels that they notify',
    load: async () => (await import('./commands/alert.commands.js')).addAlertCommands,
  },
  {
    name: 'requests',
    description: 'requests of an account of the last 30 days, newest first',
    load: async () => (await import('./commands/request.commands.js')).addRequestsCommand,
  },
  {
    name: 'import',
    description: 'settings of other software as those of the gateway',
    load: async () => (await import('./commands/import.commands.js')).addImportCommands,
  },
  {
    name: 'config',
    description: 'the settings of this environment',
    load: async () => (await import('./commands/config.commands.js')).addConfigCommands,
  },
  {
    name: 'database',
    description: 'the tables of the gateway',
    load: async () => (await import('./commands/config.commands.js')).addDatabaseCommands,
  },
];

/** `argv` has the form of `process.argv`. Wrong usage does not reject the promise. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const json = argv.includes('--json');
  const program = await commandsOf(
    ({ name, alias }) => argv.some((word) => word === name || word === alias),
    { json },
  );
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) process.exitCode = 1;
    // Without `--json` the command parser has already printed it.
    if (error.exitCode !== 0 && json) await printError(error, { json });
  }
}

/** Every command by its name, and the whole of those that `isLoaded` names. */
export async function commandsOf(
  isLoaded: (group: Group) => boolean,
  { json = false }: OutputOptions = {},
): Promise<OperatorCommand> {
  const program = new OperatorCommand('dundun')
    .description(
      "Operates a Dundun gateway: works on the gateway's database, beside it where it runs.",
    )
    .version(ownVersion())
    .configureHelp({
      optionTerm: ({ flags, mandatory }) => (mandatory ? `${flags} (required)` : flags),
    })
    // Subcommands have what their parent has when they are made.
    .exitOverride()
    .configureOutput(json ? { writeErr: () => undefined } : {})
    .addHelpText(
      'after',
      '\nSettings come from the environment and .env; docs/configuration.md lists them.',
    ) as OperatorCommand;
  for (const group of GROUPS) {
    const { name, alias, description, load } = group;
    const command = program.subcommand(name, description);
    if (alias !== undefined) command.alias(alias);
    if (isLoaded(group)) (await load())(command);
  }
  addCompletionCommands(program, () => commandsOf(() => true));
  return program;
}

function ownVersion(): string {
  const file = join(import.meta.dirname, '../../package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
