interface Request {
  readonly id: number;
  readonly command: string;
  readonly argument: unknown;
}

/** Commands of a worker process; `start` comes first, `stop` last. */
export interface Commands {
  start(options: never): Promise<unknown>;
  stop(): Promise<unknown>;
  [command: string]: (argument: never) => Promise<unknown>;
}

/** Answers the parent's commands until `stop` or until the parent exits. */
export function serve(commands: Commands): void {
  process.on('message', (request: Request) => void answer(commands, request));
  process.on('disconnect', () => process.exit(0));
}

async function answer(commands: Commands, { id, command, argument }: Request): Promise<void> {
  try {
    const run = commands[command];
    if (!run) throw new Error(`cannot ${command}`);
    const value = await run(argument as never);
    if (command === 'stop') process.exit(0);
    process.send?.({ id, value });
  } catch (error) {
    if (command === 'stop') throw error;
    process.send?.({ id, error: String((error as Error).stack) });
  }
}
