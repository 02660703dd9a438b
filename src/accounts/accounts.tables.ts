import { Account } from './account.entity.js';
import { Accounts1700000001000 } from './accounts.migration.js';
import { Credential } from './credential.entity.js';
import { CredentialUse1700000003000 } from './credential-use.migration.js';
import { Sender } from './sender.entity.js';
import { TemplateEntity } from './template.entity.js';
import { WhatsApp1700000004000 } from './whatsapp.migration.js';
import { WhatsAppNumber } from './whatsapp-number.entity.js';

/** What this folder brings to the database. */
export const ACCOUNT_TABLES = {
  entities: [Account, Credential, Sender, TemplateEntity, WhatsAppNumber],
  migrations: [Accounts1700000001000, CredentialUse1700000003000, WhatsApp1700000004000],
};
