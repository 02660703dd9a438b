import { randomInt } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { TemplateEntity } from './template.entity.js';
import { WhatsAppNumber } from './whatsapp-number.entity.js';

/** Templates a new account on the simulated carrier begins with: one of each category. */
const STARTER_TEMPLATES = [
  { name: 'order_update', language: 'en', category: 'utility', paramsCount: 2 },
  { name: 'special_offer', language: 'en', category: 'marketing', paramsCount: 1 },
  { name: 'login_code', language: 'en', category: 'authentication', paramsCount: 1 },
] as const;

/** What the simulated platform gives a new account, so that it can send on WhatsApp at once. */
export async function giveStarters(manager: EntityManager, accountId: string): Promise<void> {
  const createdAt = new Date();
  await manager.insert(WhatsAppNumber, { number: await freeNumber(manager), accountId, createdAt });
  await manager.insert(
    TemplateEntity,
    STARTER_TEMPLATES.map((one) => ({ ...one, accountId, status: 'approved' as const, createdAt })),
  );
}

/** In a range that no operator has given out. */
async function freeNumber(manager: EntityManager): Promise<string> {
  for (;;) {
    const number = `2340${String(randomInt(1_000_000_000)).padStart(9, '0')}`;
    if (!(await manager.existsBy(WhatsAppNumber, { number }))) return number;
  }
}
