import { randomInt } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { TemplateEntity, WhatsAppNumber } from './accounts.tables.js';

/** Templates of a new account on the simulated carrier: one of each category. */
const TEMPLATES = [
  { name: 'order_update', language: 'en', category: 'utility', paramsCount: 2 },
  { name: 'special_offer', language: 'en', category: 'marketing', paramsCount: 1 },
  { name: 'login_code', language: 'en', category: 'authentication', paramsCount: 1 },
] as const;

/**
 * Creates a WhatsApp number and templates for an account on the simulated carrier, so that it can
 * send at once.
 */
export async function seedDemoAccount(manager: EntityManager, accountId: string): Promise<void> {
  const createdAt = new Date();
  await manager.insert(WhatsAppNumber, { number: await freeNumber(manager), accountId, createdAt });
  await manager.insert(
    TemplateEntity,
    TEMPLATES.map((one) => ({ ...one, accountId, status: 'approved' as const, createdAt })),
  );
}

/** A number in a range that no operator uses. */
async function freeNumber(manager: EntityManager): Promise<string> {
  for (;;) {
    const number = `2340${String(randomInt(1_000_000_000)).padStart(9, '0')}`;
    if (!(await manager.existsBy(WhatsAppNumber, { number }))) return number;
  }
}
