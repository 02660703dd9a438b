import { isPhoneNumber, planOf, withoutTrunkPrefix, withTrunkPrefix } from './phone-number.js';

/** Calling codes whose numbers one person may have in several forms. */
const FORMS: Readonly<Record<string, (number: string) => string>> = {
  '52': mexican,
  '54': argentine,
  '55': brazilian,
  '225': ivorian,
  '229': beninese,
};

/**
 * The one form of a number by which its person is known: 525512345678 for 5215512345678, which is the
 * same telephone. Contacts, consent, windows, suppression, caps and erasure compare it; messages are
 * sent to the number as it was written. Any other text stays as it is.
 */
export function addressIdentity(key: string): string {
  // Most numbers end here.
  const first = key.charCodeAt(0);
  if (first !== FIVE && first !== TWO) return key;
  const form = FORMS[key.slice(0, 2)] ?? FORMS[key.slice(0, 3)];
  return form === undefined || key.length > 15 ? key : form(key);
}

const TWO = 50;
const FIVE = 53;

/** Every text that has this identity, each once, itself first. */
export function formsOf(identity: string): string[] {
  const [code = ''] = [identity.slice(0, 2), identity.slice(0, 3)].filter((one) => one in FORMS);
  const rest = identity.slice(code.length);
  const given = FORMED[code]?.(rest) ?? [];
  const others = given.map((form) => code + form);
  return [...new Set([identity, ...others.filter((form) => addressIdentity(form) === identity)])];
}

/**
 * The texts under which messages to this person may be stored: all forms, and each with the prefix that
 * is dialled within its country only, as in messages from before such prefixes were removed.
 */
export function storedFormsOf(key: string): string[] {
  const number = (isPhoneNumber(key) && withoutTrunkPrefix(key)) || key;
  return formsOf(addressIdentity(number)).flatMap((form) => [form, ...withTrunkPrefix(form)]);
}

/** Texts after the code that may have the identity with this rest. */
const FORMED: Readonly<Record<string, (rest: string) => string[]>> = {
  '52': (rest) => [`1${rest}`],
  '54': (rest) => [
    `9${rest}`,
    // An area code has two to four digits.
    ...[2, 3, 4]
      .map((area) => `${rest.slice(0, area)}15${rest.slice(area)}`)
      .flatMap((form) => [form, `9${form}`]),
  ],
  '55': (rest) => [rest.slice(0, 2) + rest.slice(3)],
  '225': (rest) => [rest.slice(2)],
  '229': (rest) => [rest.slice(2)],
};

/** Mobile numbers had a 1 before them for calls from abroad until 2020; WhatsApp writes it still. */
function mexican(number: string): string {
  return number.replace(/^521([2-9]\d{9})$/, '52$1');
}

/**
 * Mobile numbers have a 9 after the country code for calls from abroad, and a 15 after the area code
 * within it. An area has no number twice, so that the number without both is one telephone.
 */
function argentine(number: string): string {
  const [, rest] = /^549?((?:11|[23]\d)\d{8}|(?:11|[23]\d)\d{10})$/.exec(number) ?? [];
  if (rest === undefined) return number;
  if (rest.length === 10) return `54${rest}`;
  const { prefix, transform = '' } = planOf('54') ?? {};
  const mobile = prefix && rest.replace(prefix, transform);
  return mobile !== undefined && /^9\d{10}$/.test(mobile) ? `54${mobile.slice(1)}` : number;
}

/**
 * From 2012 to 2016 mobile numbers got a 9 before their eight digits; WhatsApp leaves it out for older
 * accounts. Fixed numbers, which begin with 2 to 5, and those of the former trunk radio, with 70 and
 * 77 to 79, did not get it.
 */
function brazilian(number: string): string {
  return number.replace(/^55([1-9][1-9])((?:[689]\d|7[1-6])\d{6})$/, '55$19$2');
}

/** On 31 January 2021 two digits of the operator came before the eight, which name it. */
function ivorian(number: string): string {
  const [, old] = /^225(?!800|900|13)(\d{8})$/.exec(number) ?? [];
  if (old === undefined) return number;
  const [first = '', second = '', third = ''] = old;
  if (first === '2') return `225${third === '8' ? '21' : third === '0' ? '25' : '27'}${old}`;
  if (first === '3') return `225${third === '0' ? '25' : '27'}${old}`;
  return `225${second <= '3' ? '01' : second <= '6' ? '05' : '07'}${old}`;
}

/** On 30 November 2024 every number got 01 before its eight digits. */
function beninese(number: string): string {
  return number.replace(/^229([24-9]\d{7})$/, '22901$1');
}
