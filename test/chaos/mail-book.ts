import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { MailCommand, MailEntry, MailEvent } from './processes/mail-protocol.js';

/** The mail server's process. */
export class MailBook {
  readonly #held: string[] = [];

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    child.on('message', (event: MailEvent) => {
      if (event.event === 'held') this.#held.push(event.messageId);
    });
  }

  static async start(script: string): Promise<MailBook> {
    const child = fork(script, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new MailBook(child, `smtp://127.0.0.1:${port}`);
  }

  /** @returns a function that says whether the server holds its answer to the `nth` message from now on */
  hold(nth: number): () => boolean {
    const before = this.#held.length;
    this.#tell({ command: 'hold', nth });
    return () => this.#held.length > before;
  }

  async entries(): Promise<readonly MailEntry[]> {
    const answer = new Promise<readonly MailEntry[]>((resolve) => {
      const hear = (event: MailEvent) => {
        if (event.event !== 'book') return;
        this.child.off('message', hear);
        resolve(event.entries);
      };
      this.child.on('message', hear);
    });
    this.#tell({ command: 'book' });
    return answer;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }

  #tell(command: MailCommand): void {
    this.child.send(command);
  }
}
