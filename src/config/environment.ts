import { type DynamicModule, Module } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { readCarriersFile, type WrittenCarriers } from './carriers-file.js';
import { maxBindsProblem } from './smpp-settings.js';
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
} & {
  /** Content of `CARRIERS_FILE`; `CARRIER` and its variables have no effect then. */
  readonly written?: WrittenCarriers;
};

export const ENVIRONMENT = Symbol('ENVIRONMENT');

/** An empty variable counts as unset. @throws EnvironmentError with all problems at once */
export function readEnvironment(given: Readonly<Record<string, string | undefined>>): Environment {
  // The carriers of the file take the place of this one.
  const source = given['CARRIERS_FILE'] ? { ...given, CARRIER: undefined } : given;
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
  // Links lead to the port that the gateway listens at.
  if (!source['PUBLIC_URL'] && values['PORT'] !== 0)
    values['PUBLIC_URL'] = `http://localhost:${String(values['PORT'])}`;
  if (source['CARRIERS_FILE'])
    values['written'] = readCarriersFile(source['CARRIERS_FILE'], source, problems);
  else {
    if (values['CARRIER'] === 'simulator') values['EMAIL_CARRIER'] ??= 'simulator';
    if (values['CARRIER'] === 'simulator' || values['CARRIER'] === 'http')
      values['VAS_CARRIER'] ??= values['CARRIER'];
    if (values['CARRIER'] === 'http' && values['CARRIER_KEY']) values['EMAIL_CARRIER'] ??= 'http';
  }
  for (const [name, { neededBy = [], remedy }] of variables) {
    if (source[name]) continue;
    const choice = neededBy.find((one) => {
      const [chooser = '', chosen] = one.split('=');
      return values[chooser] === chosen;
    });
    if (choice === undefined) continue;
    const [chooser = ''] = choice.split('=');
    const otherwise: Variable<unknown> = VARIABLES[chooser as keyof Variables];
    const other = `or ${otherwise.default !== undefined ? `set ${chooser}=${otherwise.default}` : `leave ${chooser} out`}`;
    problems.push(
      `${name}: is missing; ${choice} needs it${remedy ? `; ${remedy}` : `, ${other}`}`,
    );
  }
  if (values['NODE_ENV'] === 'production')
    for (const [name, { secret }] of variables) {
      const weakness = secret && name in values && weaknessOf(source[name] ?? '', secret);
      if (weakness) problems.push(`${name}: ${weakness}`);
    }
  problems.push(...publicUrlProblems(values, source['PUBLIC_URL']));
  if (values['EMAIL_LISTEN'] && values['EMAIL_CARRIER'] !== 'smtp')
    problems.push(
      'EMAIL_LISTEN: is for EMAIL_CARRIER=smtp; other carriers report bounces by themselves',
    );
  const pair = ['SMPP_TLS_CERT', 'SMPP_TLS_KEY'] as const;
  const missing = pair.filter((name) => values[name] === undefined);
  if (missing.length === 1)
    problems.push(`${missing.join()}: is missing; the SMPP server speaks TLS with both files`);
  const { SMPP_MAX_BINDS, SMPP_BINDS } = values as Partial<Environment>;
  const tooFew = SMPP_BINDS && maxBindsProblem(SMPP_MAX_BINDS, SMPP_BINDS);
  if (tooFew) problems.push(`SMPP_MAX_BINDS: ${tooFew}`);
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

/** In production, mail that leaves names pages and hosts at `PUBLIC_URL`. */
function publicUrlProblems(
  { NODE_ENV, EMAIL_CARRIER, PUBLIC_URL }: Partial<Environment>,
  written: string | undefined,
): string[] {
  if (NODE_ENV !== 'production' || !EMAIL_CARRIER || EMAIL_CARRIER === 'simulator') return [];
  if (!written)
    return [
      `PUBLIC_URL: is missing; EMAIL_CARRIER=${EMAIL_CARRIER} needs it in production; write the address of this gateway as recipients of mail reach it, such as https://mail.example.com`,
    ];
  return PUBLIC_URL?.startsWith('https:') === false
    ? [
        `PUBLIC_URL ${JSON.stringify(written)}: must start with https:// in production; mail programs take one-click unsubscribe over https alone (RFC 8058)`,
      ]
    : [];
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
