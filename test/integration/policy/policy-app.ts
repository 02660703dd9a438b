import { type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import { type Clock, MESSAGING_CLOCK, MessagingModule, simulator } from '@dundun/messaging';
import { type FlatOptions, grouped } from '../../support/flat-options.js';

/** Lets contacts be erased. */
const ERASURE = { erasure: { keys: [Buffer.alloc(32, 7).toString('base64')] } };

/** A Nest app on the suite's database. */
export async function bootApp(
  database: DataSourceOptions,
  options: FlatOptions = {},
  { clock, ...extra }: Pick<ModuleMetadata, 'providers'> & { readonly clock?: Clock } = {},
): Promise<TestingModule> {
  const builder = Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot(database),
      MessagingModule.forRoot({
        ...grouped({
          ...(!options.providers && { transport: simulator({ reportDelay: 1 }) }),
          ...ERASURE,
          ...options,
        }),
        callbackPath: false,
      }),
    ],
    ...extra,
  });
  if (clock) builder.overrideProvider(MESSAGING_CLOCK).useValue(clock);
  const app = await builder.compile();
  return app.init();
}
