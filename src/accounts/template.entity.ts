import type { MessageCategory } from '@dundun/messaging';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { epochMilliseconds } from './epoch-milliseconds.js';

/** What the platform's owner says of a template; only an approved one is sent. */
export const TEMPLATE_STATUSES = ['approved', 'pending', 'rejected', 'paused'] as const;

export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

/** Templates are of these; a free text is `service`. */
export const TEMPLATE_CATEGORIES = ['utility', 'marketing', 'authentication'] as const;

export type TemplateCategory = Exclude<MessageCategory, 'service'>;

/** A WhatsApp template of an account, in one language. */
@Entity('gateway_whatsapp_template')
export class TemplateEntity {
  @PrimaryColumn({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  @PrimaryColumn({ type: 'varchar', length: 255 })
  readonly name!: string;

  @PrimaryColumn({ type: 'varchar', length: 32 })
  readonly language!: string;

  @Column({ type: 'varchar', length: 16 })
  readonly category!: TemplateCategory;

  @Column({ type: 'varchar', length: 16 })
  readonly status!: TemplateStatus;

  @Column({ name: 'params_count', type: 'int' })
  readonly paramsCount!: number;

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;
}
