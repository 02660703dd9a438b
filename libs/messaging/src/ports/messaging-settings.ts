import { MessagingConfigError } from '../message/errors.js';
import {
  type MessagingExtras,
  type MessagingOptions,
  readExtras,
  readOptions,
} from './messaging-options.js';

/** The checked options with their defaults; durations in milliseconds. */
export type MessagingSettings = ReturnType<typeof readOptions>;

export const MESSAGING_SETTINGS = Symbol('MESSAGING_SETTINGS');

/** @throws MessagingConfigError naming the option and the remedy */
export function settingsOf(options: MessagingOptions): MessagingSettings {
  // Nest has already taken the extras out, except those that an options factory returns.
  for (const key of Object.keys(options))
    if (Object.hasOwn(readExtras.readers, key))
      throw new MessagingConfigError(
        `${key}: is needed before the factory runs; pass it to forRootAsync() beside the factory`,
      );
  const settings = readOptions('', options);
  checkProviders(settings);
  const { reports, policy, store } = settings;
  if (reports.giveUpAfter < reports.pollAfter)
    throw new MessagingConfigError(
      'reports.giveUpAfter: is shorter than reports.pollAfter, so no message would be asked after; write a longer time',
    );
  for (const [category, { per }] of Object.entries(policy.frequencyCap ?? {}))
    for (const [field, kept] of Object.entries(store.retention))
      if (kept !== undefined && kept < per)
        throw new MessagingConfigError(
          `store.retention.${field}: is shorter than policy.frequencyCap.${category}.per; erased messages cannot be counted`,
        );
  return settings;
}

function checkProviders(settings: MessagingSettings): void {
  const { providers, routes, transport, baseUrl, apiToken, apiKey } = settings;
  if (routes && !providers)
    throw new MessagingConfigError(
      'routes: there are no providers; name them in `providers`, such as providers: { main: http({ … }) }',
    );
  for (const [name, given] of Object.entries({ transport, baseUrl, apiToken, apiKey })) {
    if (given !== undefined && providers)
      throw new MessagingConfigError(
        `${name}: there are providers too; leave it out, and add the provider to providers, such as providers: { main: http({ baseUrl, apiToken }) }`,
      );
    if (given !== undefined && transport && name !== 'transport')
      throw new MessagingConfigError(
        `${name}: there is a transport too; pass one of them, or transport: http({ baseUrl, apiToken })`,
      );
  }
}

/** The extras with their defaults. Nest takes exactly these names out of the options. */
export const MESSAGING_EXTRAS: MessagingExtras = readExtras('', {});

/**
 * Nest passes the extras together with the options; `paths` are those that serve callbacks.
 * @throws MessagingConfigError naming a wrong extra, or a duplicate path
 */
export function extrasOf(given: MessagingExtras) {
  const { isGlobal, dataSource, callbackPath, inboundPath, overrides } = given;
  const extras = readExtras('', { isGlobal, dataSource, callbackPath, inboundPath, overrides });
  const paths = [extras.callbackPath, extras.inboundPath].filter((path) => path !== false);
  const [one, other] = paths.map((path) => path.replace(/^\/+|\/+$/g, ''));
  if (one !== undefined && one === other)
    throw new MessagingConfigError(
      'inboundPath: is the callbackPath; leave it out, since each path takes reports and inbound messages',
    );
  return { ...extras, paths };
}
