import { type DynamicModule, Module } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { type Variable, VARIABLES, weaknessOf } from './variables.js';

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

export type Environment = {
  readonly [Name in keyof Variables]:
    | ReturnType<Variables[Name]['parse']>
    | (Variables[Name] extends { readonly default: string } ? never : undefined);
};

export const ENVIRONMENT = Symbol('ENVIRONMENT');

/** An empty variable counts as unset. @throws EnvironmentError with all problems at once */
export function readEnvironment(source: Readonly<Record<string, string | undefined>>): Environment {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  const variables = Object.entries<Variable<unknown>>(VARIABLES);
  for (const [name, variable] of variables) {
    const written = source[name] || variable.default;
    if (written === undefined) continue;
    try {
      values[name] = variable.parse(written);
    } catch (error) {
      const shown = variable.secret ? '' : ` ${JSON.stringify(written)}`;
      problems.push(`${name}${shown}: ${(error as Error).message}`);
    }
  }
  for (const [name, { neededBy = '', remedy }] of variables) {
    const [chooser = '', choice] = neededBy.split('=');
    if (choice === undefined || values[chooser] !== choice || source[name]) continue;
    const other = `, or set ${chooser}=${VARIABLES[chooser as 'CARRIER' | 'ENGINE'].default}`;
    problems.push(`${name}: is missing; ${neededBy} needs it${remedy ? `; ${remedy}` : other}`);
  }
  if (values['NODE_ENV'] === 'production')
    for (const [name, { secret }] of variables) {
      const weakness = secret && name in values && weaknessOf(source[name] ?? '', secret);
      if (weakness) problems.push(`${name}: ${weakness}`);
    }
  if (values['CARRIER'] === 'simulator') values['EMAIL_CARRIER'] ??= 'simulator';
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
