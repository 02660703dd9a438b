import type { Provider } from '@nestjs/common';
import { MessagingConfigError } from '../message/errors.js';
import {
  flag,
  group,
  list,
  type OptionReader,
  type ReadersOf,
  text,
  withDefault,
} from './option-schema.js';

const path: OptionReader<string | false> = (name, value) => {
  if (value === false || (typeof value === 'string' && value !== '')) return value;
  throw new MessagingConfigError(`${name}: must be a path, or false for none`);
};

/** Options of the module's registration; `forRootAsync()` takes them beside `useFactory`. */
export interface MessagingExtras {
  /** @default false */
  readonly isGlobal?: boolean;
  /** Name of the TypeORM data source. @default 'default', the one without a name */
  readonly dataSource?: string;
  /**
   * Path of delivery reports and inbound messages; `false`: none. Without the option `callbacks` every
   * request there is 404 where all transports receive their reports by themselves (`listen`), such as
   * the simulator and SMPP, and the app does not boot where one does not.
   * @default 'messaging/delivery-reports'
   */
  readonly callbackPath?: string | false;
  /**
   * Decorators of the controller at `callbackPath`, such as one that makes it public for a global
   * guard: callbacks are verified by their signature. @default none
   * @example
   * callbackDecorators: [SetMetadata('isPublic', true)]
   */
  readonly callbackDecorators?: readonly ClassDecorator[];
  /**
   * Replacements of parts under their exported tokens: `MESSAGING_CLOCK`, `DISPATCH_ENGINE`,
   * `MESSAGE_TRANSPORTS`, `MESSAGING_HTTP`, `MESSAGING_METRICS`, `MESSAGING_RATE_CARD` or `MESSAGING_TRACING`. @default none
   * @example
   * overrides: [{ provide: MESSAGING_CLOCK, useClass: TestClock }]
   */
  readonly overrides?: readonly Provider[];
}

const EXTRAS = {
  isGlobal: withDefault(flag, false),
  dataSource: withDefault(text, 'default'),
  callbackPath: withDefault(path, 'messaging/delivery-reports'),
  callbackDecorators: withDefault(
    list<ClassDecorator, ClassDecorator>((name, value) => {
      if (typeof value === 'function') return value as ClassDecorator;
      throw new MessagingConfigError(
        `${name}: must be a class decorator, such as SetMetadata('isPublic', true)`,
      );
    }),
    [],
  ),
  overrides: withDefault(
    list<Provider, Provider>((_, value) => value as Provider),
    [],
  ),
} satisfies ReadersOf<MessagingExtras>;

export const readExtras = group(EXTRAS);

/** The extras with their defaults. Nest takes exactly these names out of the options. */
export const MESSAGING_EXTRAS: MessagingExtras = readExtras('', {});

/**
 * Nest passes the extras together with the options.
 * @throws MessagingConfigError naming a wrong extra
 */
export function extrasOf(extras: MessagingExtras) {
  const { isGlobal, dataSource, callbackPath, callbackDecorators, overrides } = extras;
  return readExtras('', { isGlobal, dataSource, callbackPath, callbackDecorators, overrides });
}
