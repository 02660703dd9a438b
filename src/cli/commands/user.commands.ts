import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { invalidField } from '../../http/api-error.js';
import { commandLineFor } from '../../portal/audit.js';
import { type Role, ROLES } from '../../portal/portal-api.js';
import { SetUpLinks } from '../../portal/sign-in/set-up-links.js';
import { SecondFactors } from '../../portal/sign-in/second-factors.service.js';
import { UsersService } from '../../portal/sign-in/users.service.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';

interface InviteOptions {
  readonly account?: string;
  readonly role: Role | 'operator';
  readonly email?: string;
}

interface OfUser {
  readonly user: string;
  readonly account?: string;
}

const usersOf = (app: INestApplicationContext) => app.get(UsersService, { strict: false });
const linksOf = (app: INestApplicationContext) => app.get(SetUpLinks, { strict: false });

export function addUserCommands(user: OperatorCommand): void {
  user
    .subcommand('invite', 'make a one-time link to set up a user; it is shown once')
    .addOption(new Option('--role <role>', 'what the user may do').choices([...ROLES, 'operator']))
    .option('--account <id>', 'the account; not needed for an operator')
    .option('--email <address>', 'the only address that may use the link')
    .runs(async (app, { account, role, email }: InviteOptions) => {
      if (role !== 'operator' && account === undefined)
        throw invalidField('account', 'name the account that the user joins');
      const accountId = account ?? null;
      const operator = role === 'operator';
      const ofAccount = accountId === null ? null : operator ? 'admin' : role;
      const invited = { accountId, role: ofAccount as Role | null, operator, email };
      const { link, expiresAt } = await linksOf(app).invite(invited, commandLineFor(accountId));
      return { accountId, role, link, expiresAt };
    });
  user
    .subcommand('reset', 'make a one-time link for a new password; it is shown once')
    .requiredOption('--user <user>', 'e-mail address or user_id')
    .runs(async (app, { user: named }: OfUser) => {
      const { userId, link, expiresAt } = await linksOf(app).reset(named);
      return { userId, link, expiresAt };
    });
  user
    .subcommand(
      'second-factor-reset',
      'switch off the second factor of a user, and end all sessions',
    )
    .requiredOption('--user <user>', 'e-mail address or user_id')
    .runs(async (app, { user: named }: OfUser) => {
      const { id: userId } = await usersOf(app).find(named);
      const factors = app.get(SecondFactors, { strict: false });
      await factors.reset(userId, commandLineFor(null));
      return { userId, status: 'reset' };
    });
  user
    .subcommand('list', 'all users, or those of an account')
    .option('--account <id>', 'the account')
    .runs(async (app, { account }: Partial<OfAccount>) => ({
      users: (await usersOf(app).list(account)).map(
        ({ user: { id, email, operator, lastSignInAt }, members }) => ({
          userId: id,
          email,
          operator: operator === 1 ? 'yes' : 'no',
          accounts: members.map(({ accountId, role }) => `${accountId}:${role}`),
          lastSignInAt,
        }),
      ),
    }));
  user
    .subcommand('remove', 'delete a user and all sessions')
    .requiredOption('--user <user>', 'e-mail address or user_id')
    .option('--account <id>', 'only leave this account')
    .runs(async (app, { user: named, account }: OfUser) => ({
      userId: await usersOf(app).remove(named, account),
      status: 'removed',
    }));
}
