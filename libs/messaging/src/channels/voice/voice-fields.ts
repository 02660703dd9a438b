import { isWithin } from '../send.js';
import type { CheckedContent } from '../../message/channel-definition.js';
import type { FieldError } from '../../message/errors.js';
import { CALL_CATEGORIES, type VoiceContent } from '../../message/content/voice-content.js';
import { readDuration } from '../../ports/option-schema.js';
import { parsedUrl } from '../../message/url.js';

const LANGUAGE = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$/;
const VOICE = /^[A-Za-z0-9][A-Za-z0-9 ._:-]{0,63}$/;
const CODE = /^\d{4,8}$/;
const MOST_URL = 2_048;
const SECOND = 1_000;
const DAY = 86_400_000;

const MOST_REPEAT = 3;
const RING = { path: 'ringTimeout', least: 15 * SECOND, most: 60 * SECOND, standard: 30 * SECOND };
const LENGTH = { path: 'maxDuration', least: SECOND, most: 600 * SECOND, standard: 600 * SECOND };
const REDIAL = { path: 'redial.after', least: SECOND, most: DAY, standard: 60 * SECOND };
const MOST_REDIALS = 3;
const COLLECT = { path: 'collect.timeout', least: SECOND, most: 60 * SECOND, standard: 5 * SECOND };
const MOST_DIGITS = 32;

type Given = Readonly<Record<string, unknown>>;

export function checkCall(given: Given, maxText: number, errors: FieldError[]): CheckedContent {
  const { text, audioUrl, code, language, voice, repeat = 1 } = given;
  const { machine = 'play', category = 'transactional' } = given;
  const refuse = (path: string, message: string) => errors.push({ path, message });
  const names: string[] = [];
  if (text !== undefined) names.push('text');
  if (audioUrl !== undefined) names.push('audioUrl');
  if (code !== undefined) names.push('code');
  if (names.length === 0) refuse('text', 'must be given, or an audio address or a code');
  for (const name of names.slice(1)) refuse(name, `is one too many: ${names[0]} is given`);
  if (text !== undefined && !isSpeech(text, maxText))
    refuse('text', `must be 1 to ${maxText} characters, without control characters`);
  if (audioUrl !== undefined && !isAddress(audioUrl))
    refuse('audioUrl', 'must be an http or https address without user and password');
  if (code !== undefined && !matches(code, CODE)) refuse('code', 'must be 4 to 8 digits');
  if (language !== undefined && !matches(language, LANGUAGE))
    refuse('language', "must be a language code, such as 'en' or 'en-GB'");
  if (voice !== undefined && !matches(voice, VOICE))
    refuse('voice', 'must be the name of a voice, 1 to 64 letters, digits and dots');
  if (!isWithin(repeat, 1, MOST_REPEAT)) refuse('repeat', `must be 1 to ${MOST_REPEAT}`);
  if (machine !== 'play' && machine !== 'hangup') refuse('machine', "must be 'play' or 'hangup'");
  if (!(CALL_CATEGORIES as readonly unknown[]).includes(category))
    refuse('category', "must be 'transactional' or 'marketing'");
  const content = {
    kind: 'call',
    text,
    audioUrl,
    code,
    language,
    voice,
    repeat,
    ringTimeout: timeOf(given['ringTimeout'], RING, errors),
    maxDuration: timeOf(given['maxDuration'], LENGTH, errors),
    redial: redialOf(given['redial'], errors),
    machine,
    collect: collectOf(given['collect'], errors),
    category,
  };
  return { content: withoutEmpty(content) as unknown as VoiceContent };
}

function redialOf(given: unknown, errors: FieldError[]): VoiceContent['redial'] {
  if (given === undefined || !isObject(given, 'redial', errors)) return undefined;
  const { times, after } = given;
  const isRight = isWithin(times, 0, MOST_REDIALS);
  if (!isRight) errors.push({ path: 'redial.times', message: `must be 0 to ${MOST_REDIALS}` });
  const wait = timeOf(after, REDIAL, errors);
  return isRight && times > 0 ? { times, after: wait } : undefined;
}

function collectOf(given: unknown, errors: FieldError[]): VoiceContent['collect'] {
  if (given === undefined || !isObject(given, 'collect', errors)) return undefined;
  const { maxDigits, timeout } = given;
  const isRight = isWithin(maxDigits, 1, MOST_DIGITS);
  if (!isRight) errors.push({ path: 'collect.maxDigits', message: `must be 1 to ${MOST_DIGITS}` });
  const wait = timeOf(timeout, COLLECT, errors);
  return isRight ? { maxDigits, timeout: wait } : undefined;
}

function isObject(given: unknown, path: string, errors: FieldError[]): given is Given {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return true;
  errors.push({ path, message: 'must be an object' });
  return false;
}

interface TimeRule {
  readonly path: string;
  readonly least: number;
  readonly most: number;
  readonly standard: number;
}

/** Milliseconds; the default where none is given. */
function timeOf(
  given: unknown,
  { path, least, most, standard }: TimeRule,
  errors: FieldError[],
): number {
  if (given === undefined) return standard;
  const wait = readDuration(given);
  if (wait !== undefined && wait >= least && wait <= most) return wait;
  errors.push({ path, message: `must be ${least / SECOND} to ${most / SECOND} seconds` });
  return standard;
}

function isSpeech(value: unknown, most: number): boolean {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= most &&
    !/[\p{Cs}\uFFFE\uFFFF]|(?![\t\n\r])\p{Cc}/u.test(value)
  );
}

function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MOST_URL) return false;
  const url = parsedUrl(value);
  return !!url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

function matches(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value);
}

function withoutEmpty(content: Given): Given {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(content))
    if (content[name] !== undefined) kept[name] = content[name];
  return kept;
}
