import { MessagingConfigError } from '../../message/errors.js';

/**
 * Scheme and host, as the provider calls them.
 * @throws MessagingConfigError naming the option.
 */
export function checkedOrigin(option: string, origin: string): string {
  if (!/^https?:\/\/[^/?#\s]+$/.test(origin))
    throw new MessagingConfigError(
      `${option}: must be scheme and host, such as https://app.example.com`,
    );
  return origin;
}
