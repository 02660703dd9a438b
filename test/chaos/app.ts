import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { MailAppSettings } from './processes/mail-protocol.js';
import type {
  AppCommand,
  AppEvent,
  AppSettings,
  NotificationAppSettings,
  OrderAppSettings,
} from './processes/protocol.js';

/** One process of the app: it accepts and dispatches, and may be stopped at any point. */
export class App {
  private constructor(
    private readonly child: ChildProcess,
    hear: (event: AppEvent, app: App) => void,
  ) {
    child.on('message', (event: AppEvent) => hear(event, this));
  }

  /** Resolves once it dispatches. */
  static async start(
    script: string,
    settings: AppSettings | MailAppSettings | OrderAppSettings | NotificationAppSettings,
    hear: (event: AppEvent, app: App) => void,
  ): Promise<App> {
    const child = fork(script, [JSON.stringify(settings)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const ready = new Promise<void>((resolve, reject) => {
      child.on('message', ({ event }: AppEvent) => event === 'ready' && resolve());
      child.once('exit', (code, signal) =>
        reject(new Error(`the app did not start: ${code ?? signal}`)),
      );
    });
    const app = new App(child, hear);
    await ready;
    return app;
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Whether the operating system reports the process as stopped. */
  async isStopped(): Promise<boolean> {
    const stat = await readFile(`/proc/${this.child.pid}/stat`, 'utf8').catch(() => '');
    return /\) T /.test(stat);
  }

  /** Resolves with the signal that ended it, if one did. */
  get ended(): Promise<string | null> {
    return this.alive
      ? once(this.child, 'exit').then(([, signal]) => signal as string | null)
      : Promise.resolve(this.child.signalCode);
  }

  tell(command: AppCommand): void {
    if (this.child.connected) this.child.send(command, () => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async end(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    if (!this.alive) return;
    const { ended } = this;
    this.child.kill(signal);
    await ended;
  }
}
