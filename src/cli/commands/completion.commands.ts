import { Argument, type Command, type Option } from 'commander';
import type { OperatorCommand } from '../operator-command.js';

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

type Shell = keyof typeof SHELLS;

/** @param whole all commands with their options: their scripts start no process at a key */
export function addCompletionCommands(
  program: OperatorCommand,
  whole: () => Promise<Command>,
): void {
  program
    .subcommand('completion', 'the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .action(async (shell: Shell) => {
      const commands = [...commandsUnder(await whole(), 'dundun')];
      process.stdout.write(SHELLS[shell](commands));
    });
}

/** A command by its words, such as `dundun account create`, and what may follow them. */
interface Completed {
  readonly words: string;
  readonly subcommands: readonly Command[];
  /** Words that an argument may be. */
  readonly choices: readonly string[];
  readonly options: readonly Option[];
}

function* commandsUnder(command: Command, words: string): Generator<Completed> {
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  yield { words, subcommands: command.commands, choices, options: command.options };
  for (const subcommand of command.commands)
    for (const name of [subcommand.name(), ...subcommand.aliases()])
      yield* commandsUnder(subcommand, `${words} ${name}`);
}

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const HEAD = '# Made by `dundun completion`; make it again after an update.\n';

/** In `$at` the words of the command before the cursor; options and their values do not count. */
function bashScript(commands: readonly Completed[]): string {
  const known = commands.slice(1).map(({ words }) => `'${words}'`);
  const values = commands.flatMap(({ words, options }) =>
    options.flatMap((option) =>
      takesValue(option)
        ? [`    '${words} ${option.long}') words='${(option.argChoices ?? []).join(' ')}' ;;`]
        : [],
    ),
  );
  const next = commands.map(({ words, subcommands, choices, options }) => {
    const all = [
      ...subcommands.map((command) => command.name()),
      ...choices,
      ...options.flatMap(({ long }) => long ?? []),
      '--help',
    ];
    return `        '${words}') words='${all.join(' ')}' ;;`;
  });
  return `${HEAD}_dundun() {
  local at=dundun word words=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$at $word" in
      ${known.join('|')}) at="$at $word" ;;
    esac
  done
  case "$at \${COMP_WORDS[$((COMP_CWORD - 1))]}" in
${values.join('\n')}
    *)
      case "$at" in
${next.join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _dundun dundun
`;
}

/** zsh runs completions of bash. */
function zshScript(commands: readonly Completed[]): string {
  return `#compdef dundun\nautoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n${bashScript(commands)}`;
}

function fishScript(commands: readonly Completed[]): string {
  const known = commands.slice(1).map(({ words }) => `'${words}'`);
  const lines = commands.flatMap(({ words, subcommands, choices, options }) => [
    ...subcommands.map(
      (command) =>
        `complete -c dundun -f -n '__dundun_at ${words}' -a ${command.name()} -d ${quoted(command.description())}`,
    ),
    ...choices.map((choice) => `complete -c dundun -f -n '__dundun_at ${words}' -a ${choice}`),
    ...options.map((option) => {
      const values = option.argChoices && `-a '${option.argChoices.join(' ')}'`;
      const value = takesValue(option) ? ['-r', values] : ['-f'];
      return [
        `complete -c dundun -n '__dundun_at ${words}' -l ${option.long?.slice('--'.length)}`,
        ...value,
        `-d ${quoted(option.description)}`,
      ]
        .filter(Boolean)
        .join(' ');
    }),
  ]);
  return `${HEAD}function __dundun_at
  set -l at dundun
  set -l words (commandline -opc)
  for word in $words[2..]
    switch "$at $word"
      case ${known.join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
${lines.join('\n')}
`;
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
