import 'reflect-metadata';
import { MessagingModule, type MessagingOptions, simulator } from '@dundun/messaging';
import { type INestApplicationContext, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Logger } from 'typeorm';
import { dataSourceOptions } from './data.source.js';

export interface AppOptions {
  readonly url: string;
  readonly messaging: MessagingOptions;
  /** Receives every statement, if given. */
  readonly logger?: Logger;
  readonly imports?: ModuleMetadata['imports'];
}

@Module({})
class BenchModule {}

/** An app with the library on its own database. */
export async function startApp({
  url,
  messaging,
  logger,
  imports = [],
}: AppOptions): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(
    {
      module: BenchModule,
      imports: [
        TypeOrmModule.forRoot({
          ...dataSourceOptions(url),
          ...(logger && { logger, logging: ['query'] }),
        }),
        MessagingModule.forRoot({
          ...(!messaging.providers && { transport: simulator() }),
          store: { migrate: true },
          callbackPath: false,
          ...messaging,
        }),
        ...imports,
      ],
    },
    { logger: ['error', 'warn'], abortOnError: false },
  );
}
