import { Option } from 'commander';
import { RequestLogReader } from '../../accounts/request-log.js';
import { invalidFields } from '../../http/api-error.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';

const MOST_REQUESTS = 1_000;

interface RequestOptions extends OfAccount {
  readonly key?: string;
  readonly refused?: boolean;
  readonly cursor?: string;
  readonly limit: string;
}

export function addRequestsCommand(requests: OperatorCommand): void {
  requests
    .requiredOption('--account <id>', 'the account')
    .option('--key <id>', 'of one key or token, by its id')
    .option('--refused', 'those answered with an error')
    .option('--cursor <cursor>', 'the next_cursor of the page before')
    .addOption(new Option('--limit <count>', `at most ${MOST_REQUESTS}`).default('100'))
    .runs(async (app, { account, key, refused, cursor, limit: written }: RequestOptions) => {
      const limit = Number(written);
      if (!Number.isInteger(limit) || limit < 1 || limit > MOST_REQUESTS)
        throw invalidFields([
          { path: 'limit', message: `must be a whole number from 1 to ${MOST_REQUESTS}` },
        ]);
      const filter = { credential: key, refused, cursor, limit };
      const page = await app.get(RequestLogReader, { strict: false }).list(account, filter);
      return {
        requests: page.data.map(({ at, credentialId, ...request }) => ({
          at: at.toISOString(),
          key: credentialId,
          ...request,
        })),
        nextCursor: page.nextCursor,
      };
    });
}
