import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from './environment.js';

/** Gives everybody the {@link Environment}: `@Inject(ENVIRONMENT) environment: Environment`. */
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
