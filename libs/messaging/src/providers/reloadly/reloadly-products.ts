import { amountOf, unitsOf } from '../../message/money.js';
import { own, word } from '../../message/report-fields.js';
import type { VasProduct } from '../../message/vas.js';

/** The country and operator that a product's id names. */
export interface Wanted {
  readonly country: string;
  readonly operator: string;
}

/** `undefined`: no id of {@link productsOf}. */
export function wantedOf(product: string): Wanted | undefined {
  const [, country, operator] = /^([A-Z]{2})-(\d{1,9})(?:-[\d.]+)?$/.exec(product) ?? [];
  return country === undefined || operator === undefined ? undefined : { country, operator };
}

/**
 * Products of a country's operators that sell in their own currency: one for a range, one for each
 * fixed amount.
 */
export function productsOf(country: string, operators: unknown): VasProduct[] {
  const all = Array.isArray(operators) ? (operators as unknown[]) : [];
  return all.flatMap((operator) => productsOfOne(country, operator));
}

function productsOfOne(country: string, operator: unknown): VasProduct[] {
  const id = own(operator, 'operatorId');
  const name = word(own(operator, 'name'));
  const currency = word(own(operator, 'destinationCurrencyCode'));
  const isLocal =
    own(operator, 'supportsLocalAmounts') === true ||
    own(operator, 'senderCurrencyCode') === currency;
  if (!Number.isSafeInteger(id) || name === null || currency === null || !isLocal) return [];
  const isData = own(operator, 'data') === true || own(operator, 'bundle') === true;
  const base = {
    type: isData ? 'data' : 'airtime',
    network: name,
    currency,
    validity: null,
  } as const;
  const amount = (local: string, sender: string) =>
    decimal(own(operator, local)) ?? decimal(own(operator, sender));
  if (own(operator, 'denominationType') === 'RANGE') {
    const min = amount('localMinAmount', 'minAmount');
    const max = amount('localMaxAmount', 'maxAmount');
    if (min === null || max === null) return [];
    return [{ ...base, id: `${country}-${String(id)}`, name, amount: null, min, max }];
  }
  const local = own(operator, 'localFixedAmounts');
  const fixed = Array.isArray(local) && local.length > 0 ? local : own(operator, 'fixedAmounts');
  return (Array.isArray(fixed) ? (fixed as unknown[]) : []).flatMap((one) => {
    const price = decimal(one);
    if (price === null) return [];
    const product = {
      id: `${country}-${String(id)}-${price}`,
      name: `${name} ${price} ${currency}`,
    };
    return [{ ...base, ...product, amount: price, min: null, max: null }];
  });
}

/** A JSON number in its shortest form; `null`: none with at most four digits after the point. */
function decimal(value: unknown): string | null {
  if (typeof value !== 'number') return null;
  const units = unitsOf(String(value));
  return units === undefined || units === 0n ? null : amountOf(units);
}
