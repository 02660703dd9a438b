import { getCountry } from 'countries-and-timezones';
import { parsePhoneNumberFromString } from 'libphonenumber-js/core';
import metadata from 'libphonenumber-js/metadata.min';

/** A number's country never takes more of its digits than these. */
const TELLING_DIGITS = 8;
const REMEMBERED = 20_000;
const known = new Map<string, readonly string[]>();

/**
 * IANA zones of the number's country; a mobile number does not tell where in it. Countries by
 * libphonenumber's metadata, zones by the IANA database. None where the number names no country.
 */
export function zonesOfNumber(phone: string): readonly string[] {
  const prefix = phone.slice(0, TELLING_DIGITS);
  const remembered = known.get(prefix);
  if (remembered) return remembered;
  const country = parsePhoneNumberFromString(`+${phone}`, metadata)?.country;
  const zones = (country && getCountry(country)?.timezones) ?? [];
  if (known.size >= REMEMBERED) known.clear();
  known.set(prefix, zones);
  return zones;
}
