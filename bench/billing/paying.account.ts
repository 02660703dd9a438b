import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What every message of a benchmark costs. */
export const PRICES = { SMS_PRICES: 'NGN *=4.5' };

/** A balance that no run spends. */
const PLENTY = '900000000';

/** Milliseconds in which a running gateway has read how an account pays. */
const READ_AGAIN = 2_500;

/** Operates a running gateway by the command line on its database. */
export class Operator {
  constructor(private readonly databaseUrl: string) {}

  /** The id of the account that the first start made. */
  async demo(): Promise<string> {
    const { accounts } = await this.#ask<{ accounts: { account_id: string }[] }>('account', 'list');
    const [first] = accounts;
    if (!first) throw new Error('the gateway has no account');
    return first.account_id;
  }

  /** @returns the API token of a new account that may send from ACME */
  async account(): Promise<{ readonly id: string; readonly token: string }> {
    const made = await this.#ask<{ account_id: string; api_token: string }>(
      'account',
      'create',
      '--name',
      'other',
    );
    await this.#ask('sender', 'add', '--account', made.account_id, '--sender', 'ACME');
    return { id: made.account_id, token: made.api_token };
  }

  /** Has the account pay for its messages, or has them free. */
  async pays(account: string, isPaying: boolean): Promise<void> {
    const of = ['--account', account];
    if (isPaying)
      await this.#ask('billing', 'top-up', ...of, '--amount', PLENTY, '--reference', 'bench');
    await this.#ask('billing', 'mode', ...of, '--mode', isPaying ? 'prepaid' : 'off');
  }

  /** Has the account place orders under caps that no run reaches. */
  async orders(account: string): Promise<void> {
    const caps = ['--daily', PLENTY, '--per-number', PLENTY];
    await this.#ask('vas', 'allow', '--account', account, ...caps);
  }

  /** Has the messages of the account of the first start free; resolves once the gateway knows. */
  async frees(): Promise<void> {
    await this.pays(await this.demo(), false);
    await this.known();
  }

  /** Resolves once the gateway knows of the changes. */
  async known(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, READ_AGAIN));
  }

  async #ask<T>(...args: string[]): Promise<T> {
    const main = new URL('../../../src/cli.js', import.meta.url).pathname;
    const { stdout } = await run(process.execPath, [main, ...args, '--json'], {
      env: { PATH: process.env['PATH'], DATABASE_URL: this.databaseUrl, ...PRICES },
    });
    return JSON.parse(stdout) as T;
  }
}
