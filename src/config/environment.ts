import { MessagingConfigError, type PriceList } from '@dundun/messaging';
import { type DynamicModule, Module } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import type { CarrierTypes } from '../carriers/carrier-type.js';
import { CARRIER_KEYS } from '../carriers/carrier-variables.js';
import { type Carriers, readCarriers } from '../carriers/carriers.js';
import { missingVariable, weaknessOf, wrongVariable } from '../settings/setting.js';
import { GATEWAY_VARIABLES, VARIABLES } from './variables.js';

/** Wrong settings; `problems` names each variable and its remedy. */
export class EnvironmentError extends Error {
  constructor(
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(
      [
        `Dundun cannot start: ${problems.length} ${problems.length === 1 ? 'setting is' : 'settings are'} wrong (docs/configuration.md lists them all)`,
        ...problems.map((problem) => `  ${problem}`),
      ].join('\n'),
      options,
    );
    this.name = 'EnvironmentError';
  }
}

/** Loads `.env` from the working directory, if it exists; variables already set win. */
export function loadEnvironmentFile(): void {
  if (existsSync('.env')) loadEnvFile('.env');
}

type Variables = typeof GATEWAY_VARIABLES;

export type Environment = {
  readonly [Name in keyof Variables]:
    | ReturnType<Variables[Name]['parse']>
    | (Variables[Name] extends { readonly default: string } ? never : undefined);
} & { readonly carriers: Carriers };

const HOUR = 3_600_000;

/** How long the gateway asks for missing reports, in milliseconds. */
export const REPORTS_FOR = 72 * HOUR;

export const ENVIRONMENT = Symbol('ENVIRONMENT');

/**
 * An empty variable counts as unset.
 * @param types of carriers that channels bring
 * @throws EnvironmentError with all problems at once
 */
export function readEnvironment(
  given: Readonly<Record<string, string | undefined>>,
  types: CarrierTypes = {},
): Environment {
  // The carriers of the file take the place of this one.
  const source = given['CARRIERS_FILE'] ? { ...given, CARRIER: undefined } : given;
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  const variables = Object.entries(VARIABLES).filter(([name]) => !(name in CARRIER_KEYS));
  for (const [name, variable] of variables) {
    const written = source[name] || variable.default;
    if (written === undefined) continue;
    try {
      const value = variable.parse(written);
      if (name in GATEWAY_VARIABLES) values[name] = value;
    } catch (error) {
      const shown = variable.secret ? undefined : written;
      problems.push(wrongVariable(name, shown, (error as Error).message));
    }
  }
  // Links lead to the port that the gateway listens at.
  if (!source['PUBLIC_URL'] && values['PORT'] !== 0)
    values['PUBLIC_URL'] = `http://localhost:${String(values['PORT'])}`;
  for (const [name, { neededBy = [], remedy }] of variables) {
    const choice = neededBy.find((one) => {
      const [chooser = '', chosen] = one.split('=');
      return values[chooser] === chosen;
    });
    if (source[name] || choice === undefined) continue;
    const [chooser = ''] = choice.split('=');
    problems.push(missingVariable(name, choice, remedy, VARIABLES[chooser]?.default));
  }
  const isProduction = values['NODE_ENV'] === 'production';
  if (isProduction)
    for (const [name, { secret }] of variables) {
      const weakness = name in values && weaknessOf(source[name] ?? '', secret);
      if (weakness) problems.push(`${name}: ${weakness}`);
    }
  const prices = values['WHATSAPP_PRICES'] as PriceList;
  const carriers = readCarriers(source, { isProduction, prices, types }, problems);
  if (carriers) problems.push(...mailProblems(values, carriers, source['PUBLIC_URL']));
  values['carriers'] = carriers;
  const pair = ['SMPP_TLS_CERT', 'SMPP_TLS_KEY'] as const;
  const missing = pair.filter((name) => values[name] === undefined);
  if (missing.length === 1)
    problems.push(`${missing.join()}: is missing; the SMPP server speaks TLS with both files`);
  if (values['PROBE_NUMBERS'] && !values['PROBE_SECRET'] && !source['PROBE_SECRET'])
    problems.push(
      'PROBE_SECRET: is missing; the phones of PROBE_NUMBERS sign their calls with it; write whsec_ and the output of openssl rand -base64 32',
    );
  const { FREQUENCY_CAP } = values as Partial<Environment>;
  for (const name of ['RETENTION_CONTENT', 'RETENTION_MESSAGES'] as const)
    for (const [category, { per }] of Object.entries(FREQUENCY_CAP ?? {}))
      if (Number(values[name]) < Number(per)) {
        // The frequency cap cannot count erased messages.
        if (source[name])
          problems.push(`${name}: is shorter than the window of FREQUENCY_CAP ${category}`);
        values[name] = Number(per);
      }
  const { RETENTION_CONTENT = Infinity, RETENTION_MESSAGES = Infinity } =
    values as Partial<Environment>;
  if (RETENTION_MESSAGES < REPORTS_FOR)
    problems.push(
      `RETENTION_MESSAGES "${source['RETENTION_MESSAGES']}": is shorter than reports and idempotency keys need; write at least ${REPORTS_FOR / HOUR}h, or off`,
    );
  if (RETENTION_MESSAGES < RETENTION_CONTENT) {
    if (source['RETENTION_CONTENT'] && source['RETENTION_MESSAGES'])
      problems.push(
        'RETENTION_CONTENT: is longer than RETENTION_MESSAGES, which deletes the batch with its content',
      );
    if (Number.isFinite(RETENTION_CONTENT)) values['RETENTION_CONTENT'] = RETENTION_MESSAGES;
  }
  if (problems.length > 0) throw new EnvironmentError(problems);
  return values as Environment;
}

function mailProblems(
  { NODE_ENV, PUBLIC_URL, EMAIL_LISTEN }: Partial<Environment>,
  carriers: Carriers,
  written: string | undefined,
): string[] {
  const takers = carriers.all.filter(({ traits }) => traits.takesMail);
  const problems: string[] = [];
  if (EMAIL_LISTEN && takers.length === 0)
    problems.push(
      'EMAIL_LISTEN: is for EMAIL_CARRIER=smtp; other carriers report bounces by themselves',
    );
  if (EMAIL_LISTEN && takers.length > 1)
    problems.push(
      `EMAIL_LISTEN: takes the returned mail of one carrier; there are ${takers.map(({ name }) => name).join(', ')}`,
    );
  // In production, mail that leaves names pages and hosts at this address.
  const real = carriers.of('email').find(({ traits }) => !traits.isSimulated);
  if (NODE_ENV !== 'production' || !real) return problems;
  if (!written)
    problems.push(
      `PUBLIC_URL: is missing; ${real.origin.place} needs it in production; write the address of this gateway as recipients of mail reach it, such as https://mail.example.com`,
    );
  else if (PUBLIC_URL?.startsWith('https:') === false)
    problems.push(
      `PUBLIC_URL ${JSON.stringify(written)}: must start with https:// in production; mail programs take one-click unsubscribe over https alone (RFC 8058)`,
    );
  return problems;
}

/** A wrong option of the library, in the words of the operator's settings. Another error stays as it is. */
export function settingErrorOf(
  error: unknown,
  { carriers }: Pick<Environment, 'carriers'>,
): unknown {
  return error instanceof MessagingConfigError
    ? new EnvironmentError([carriers.problemOf(error)], { cause: error })
    : error;
}

@Module({})
export class EnvironmentModule {
  static for(environment: Environment): DynamicModule {
    return {
      module: EnvironmentModule,
      global: true,
      providers: [{ provide: ENVIRONMENT, useValue: environment }],
      exports: [ENVIRONMENT],
    };
  }
}
