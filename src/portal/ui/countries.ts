const COUNTRIES = new Intl.DisplayNames(['en'], { type: 'region' });

/** @param code ISO 3166 alpha-2; empty: none, or not known */
export function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return '–';
  return COUNTRIES.of(code) ?? code;
}
