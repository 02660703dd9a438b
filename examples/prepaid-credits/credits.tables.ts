import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('credit_account')
export class CreditAccount {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  tenant!: string;

  /** Never below zero at an acceptance. */
  @Column({ type: 'int' })
  credits!: number;
}

/** What one batch has taken. */
@Entity('credit_batch')
export class CreditBatch {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  batch!: string;

  @Column({ type: 'varchar', length: 64 })
  tenant!: string;

  /** Credits of each of its messages. */
  @Column({ type: 'int' })
  each!: number;
}
