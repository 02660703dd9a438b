import { ContactsService } from '@dundun/messaging';
import { invalidFields } from '../http/api-error.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';

const KINDS = ['phone', 'email', 'platform'] as const;

type EraseOptions = OfAccount & Partial<Record<(typeof KINDS)[number], string>>;

export function addContactCommands(program: OperatorCommand): void {
  program
    .subcommand('contact', 'people that an account writes to')
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
      return app.get(ContactsService, { strict: false }).erase(person, { tenant });
    });
}
