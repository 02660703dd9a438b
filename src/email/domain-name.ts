import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { invalidField } from '../http/api-error.js';
import { MOST_NAME } from './domains.tables.js';

const LABELS = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

export const DOMAIN_NAME_RULE = `must be a domain name of at most ${MOST_NAME} characters, such as mail.example.com`;

/** In lower case, with A-labels. @throws ApiError 422 on `name`, also for a public suffix */
export function domainName(given: string): string {
  // `domainToASCII()` takes other characters for the end of the name, or for an escape.
  const isWritten = /^[\p{L}\p{M}\p{N}.-]+$/u.test(given);
  const name = isWritten ? domainToASCII(given) : '';
  if (name.length > MOST_NAME || !LABELS.test(name)) throw invalidField('name', DOMAIN_NAME_RULE);
  const { publicSuffix } = parse(name, { allowPrivateDomains: true });
  if (publicSuffix === name)
    throw invalidField(
      'name',
      'is a public suffix, below which anyone can have a name; add a domain of your own',
    );
  return name;
}
