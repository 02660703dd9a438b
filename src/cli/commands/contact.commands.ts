import { ContactsService } from '@dundun/messaging';
import { open } from 'node:fs/promises';
import { invalidField, invalidFields } from '../../http/api-error.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { recordChange } from '../operator-gateway.js';

const KINDS = ['phone', 'email', 'platform'] as const;

type EraseOptions = OfAccount & Partial<Record<(typeof KINDS)[number], string>>;

export function addContactCommands(contact: OperatorCommand): void {
  contact
    .accountCommand(
      'erase',
      'remove a person from contacts, messages and callbacks, also without a contact',
    )
    .option('--phone <number>', 'digits with country code')
    .option('--email <address>', 'e-mail address')
    .option('--platform <id>', 'user id of a platform, such as a WhatsApp business-scoped user id')
    .runs(async (app, { account: tenant, ...options }: EraseOptions) => {
      const given = KINDS.filter((kind) => options[kind] !== undefined);
      if (given.length === 0)
        throw invalidFields([{ path: 'phone', message: 'must be given, or an email or platform' }]);
      const person = Object.fromEntries(given.map((kind) => [kind, options[kind]]));
      const erased = await app.get(ContactsService, { strict: false }).erase(person, { tenant });
      await recordChange(app, tenant, 'contact.erased');
      return erased;
    });
  contact
    .accountCommand('import', 'add contacts of a CSV file; rows with errors are skipped and named')
    .argument('<file>', 'columns phone, email, platform, name, and consents; see docs/policy.md')
    .runs(async (app, { account: tenant }: OfAccount, file = '') => {
      const rows = await readWithProgress(file);
      // Before: rows above a line that is no CSV stay.
      await recordChange(app, tenant, 'contacts.imported');
      const contacts = app.get(ContactsService, { strict: false });
      const { imported, failed, errors } = await contacts.importCsv(rows, { tenant });
      if (failed > 0) process.exitCode = 1;
      return { accountId: tenant, imported, failed, errors };
    });
}

/** Milliseconds between two lines of progress. */
const PROGRESS_EVERY = 200;

/** The file in pieces; a terminal on stderr shows how much of it is read. @throws ApiError 422 */
async function readWithProgress(file: string): Promise<AsyncIterable<Buffer>> {
  const handle = await open(file).catch((error: unknown) => {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw invalidField('file', `${file} cannot be read (${code})`);
  });
  const { size } = await handle.stat();
  const show = (text: string): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001B[K`);
  };
  return (async function* pieces() {
    let [read, shownAt] = [0, 0];
    for await (const piece of handle.createReadStream() as AsyncIterable<Buffer>) {
      yield piece;
      read += piece.length;
      if (Date.now() - shownAt < PROGRESS_EVERY) continue;
      shownAt = Date.now();
      show(`importing ${file}: ${Math.floor((100 * read) / size)} %`);
    }
    show('');
  })();
}
