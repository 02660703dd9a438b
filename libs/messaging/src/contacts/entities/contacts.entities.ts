import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A person, by phone, business-scoped user id or both. Times are epoch microseconds. */
@Entity('messaging_contact')
export class ContactEntity {
  @PrimaryColumn('varchar', { length: 36 }) id!: string;
  @Column('varchar') tenant!: string;
  @Column('varchar', { length: 64, nullable: true }) phone!: string | null;
  @Column('varchar', { nullable: true }) bsuid!: string | null;
  @Column('varchar', { nullable: true }) name!: string | null;
  @Column('bigint', { name: 'created_at' }) createdAt!: string;
  @Column('bigint', { name: 'updated_at' }) updatedAt!: string;
}

/** A contact's present consent for one channel. */
@Entity('messaging_consent')
export class ConsentEntity {
  @PrimaryColumn('varchar', { length: 36 }) contact!: string;
  @PrimaryColumn('varchar', { length: 16 }) channel!: string;
  @Column('varchar', { length: 16 }) state!: string;
  @Column('bigint') at!: string;
  @Column('varchar') source!: string;
  @Column('text', { nullable: true }) evidence!: string | null;
}

@Entity('messaging_contact_group')
export class ContactGroupEntity {
  @PrimaryColumn('varchar', { length: 64 }) id!: string;
  @Column('varchar') tenant!: string;
  @Column('varchar') name!: string;
  @Column('bigint', { name: 'created_at' }) createdAt!: string;
}

/** A number nothing is sent to; channel `*` is every channel. */
@Entity('messaging_suppression')
export class SuppressionEntity {
  @PrimaryColumn('varchar') tenant!: string;
  @PrimaryColumn('varchar', { length: 64 }) recipient!: string;
  @PrimaryColumn('varchar', { length: 16 }) channel!: string;
  @Column('varchar') reason!: string;
  @Column('bigint') at!: string;
}
