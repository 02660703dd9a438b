import type { QueryRunner } from 'typeorm';
import { dialectOf } from '../dialect.js';

/** Collations that compare byte by byte, trailing spaces included: MariaDB's and MySQL 8's. */
const EXACT = ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin'];

/**
 * What follows the columns in CREATE TABLE. MySQL's older binary collation takes two texts for the
 * same that differ in trailing spaces only: one tenant would read another's batches.
 */
export async function tableOptions(runner: QueryRunner): Promise<string> {
  if (dialectOf(runner.dataSource).kind !== 'mysql') return '';
  const known = (await runner.query(
    `SELECT collation_name AS name FROM information_schema.collations WHERE collation_name IN ('${EXACT.join("', '")}')`,
  )) as { name: string }[];
  const collation = EXACT.find((exact) => known.some(({ name }) => name === exact));
  return ` CHARACTER SET utf8mb4 COLLATE ${collation ?? 'utf8mb4_bin'}`;
}
