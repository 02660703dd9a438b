import { type DynamicModule, Global, Module } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import type { Variable } from './variable.js';
import { VARIABLES } from './variables.js';

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

type Variables = typeof VARIABLES;

/** The parsed and checked settings. */
export type Environment = {
  readonly [Name in keyof Variables]:
    | ReturnType<Variables[Name]['parse']>
    | (Variables[Name] extends { readonly default: string } ? never : undefined);
};

/** Settings that a carrier requires. */
const NEEDED_BY: Readonly<Record<Environment['CARRIER'], readonly (keyof Variables)[]>> = {
  simulator: [],
  http: ['CARRIER_URL', 'CARRIER_TOKEN'],
  kannel: [
    'KANNEL_URL',
    'KANNEL_USERNAME',
    'KANNEL_PASSWORD',
    'KANNEL_CALLBACK_URL',
    'KANNEL_CALLBACK_SECRET',
  ],
};

/** Injection token of the {@link Environment}. */
export const ENVIRONMENT = Symbol('ENVIRONMENT');

/**
 * Parses every setting; an empty variable counts as unset.
 * @throws EnvironmentError with all problems at once
 */
export function readEnvironment(source: Readonly<Record<string, string | undefined>>): Environment {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries<Variable<unknown>>(VARIABLES)) {
    const written = source[name] || variable.default;
    if (written === undefined) continue;
    try {
      values[name] = variable.parse(written);
    } catch (error) {
      const shown = variable.secret ? '' : ` ${JSON.stringify(written)}`;
      problems.push(`${name}${shown}: ${(error as Error).message}`);
    }
  }
  const carrier = values.CARRIER as Environment['CARRIER'] | undefined;
  for (const name of carrier ? NEEDED_BY[carrier] : [])
    if (!source[name])
      problems.push(`${name}: is missing; CARRIER=${carrier} needs it, or set CARRIER=simulator`);
  if (values.ENGINE === 'bullmq' && !source.REDIS_URL)
    problems.push('REDIS_URL: is missing; ENGINE=bullmq needs it, or set ENGINE=database');
  const { FREQUENCY_CAP } = values as Partial<Environment>;
  for (const name of ['RETENTION_CONTENT', 'RETENTION_MESSAGES'] as const)
    for (const [category, { per }] of Object.entries(FREQUENCY_CAP ?? {}))
      if (Number(values[name]) < Number(per)) {
        // The frequency cap cannot count erased messages.
        if (source[name])
          problems.push(`${name}: is shorter than the window of FREQUENCY_CAP ${category}`);
        values[name] = Number(per);
      }
  if (problems.length > 0) throw new EnvironmentError(problems);
  return values as Environment;
}

/** Provides the {@link Environment} to every module: `@Inject(ENVIRONMENT) environment: Environment`. */
@Global()
@Module({})
export class EnvironmentModule {
  static for(environment: Environment): DynamicModule {
    return {
      module: EnvironmentModule,
      providers: [{ provide: ENVIRONMENT, useValue: environment }],
      exports: [ENVIRONMENT],
    };
  }
}
