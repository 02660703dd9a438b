import { type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import {
  type Clock,
  MESSAGING_CLOCK,
  MessagingModule,
  type MessagingOptions,
  simulator,
} from '@dundun/messaging';

/** A Nest app on the suite's database. */
export async function bootApp(
  database: DataSourceOptions,
  options: Partial<MessagingOptions> = {},
  { clock, ...extra }: Pick<ModuleMetadata, 'providers'> & { readonly clock?: Clock } = {},
): Promise<TestingModule> {
  const builder = Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot(database),
      MessagingModule.forRoot({
        transport: simulator({ reportDelay: 1 }),
        callbackPath: false,
        ...options,
      }),
    ],
    ...extra,
  });
  if (clock) builder.overrideProvider(MESSAGING_CLOCK).useValue(clock);
  const app = await builder.compile();
  return app.init();
}
