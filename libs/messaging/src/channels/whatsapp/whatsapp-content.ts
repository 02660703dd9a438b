import type { CheckedContent } from '../../message/channel-definition.js';
import type { FieldError } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import { paramFault } from '../../message/templates.js';
import {
  MEDIA_TYPES,
  type MediaContent,
  type MediaSource,
  type MediaType,
  type TemplateButton,
  type TemplateHeader,
} from '../../message/content/whatsapp-content.js';
import { parsedUrl } from '../../message/url.js';

const LONGEST_LINK = 2_048;
const MEDIA_ID = /^[\w.:-]{1,255}$/;
const FILENAME = /^[^\p{Cc}\p{Cs}/\\]{1,240}$/u;
const CAPTIONED: readonly MediaType[] = ['image', 'video', 'document'];
const HEADERS = ['text', 'image', 'video', 'document'] as const;
const MOST_BUTTONS = 10;

type Refuse = (path: string, message: string) => void;

const [KB, MB] = [1_024, 1_048_576];

/**
 * Most bytes of a file by its MIME type.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types
 */
const MOST_BYTES: ReadonlyMap<string, number> = new Map([
  ...fileTypes('image', ['jpeg', 'png'], 5 * MB),
  ...fileTypes('image', ['webp'], 500 * KB),
  ...fileTypes('video', ['mp4', '3gpp'], 16 * MB),
  ...fileTypes('audio', ['aac', 'amr', 'mpeg', 'mp4', 'ogg'], 16 * MB),
  ...fileTypes('text', ['plain'], 100 * MB),
  ...fileTypes(
    'application',
    [
      'pdf',
      'msword',
      'vnd.ms-excel',
      'vnd.ms-powerpoint',
      'vnd.openxmlformats-officedocument.wordprocessingml.document',
      'vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'vnd.openxmlformats-officedocument.presentationml.presentation',
    ],
    100 * MB,
  ),
]);

function fileTypes(kind: string, names: readonly string[], most: number): [string, number][] {
  return names.map((name) => [`${kind}/${name}`, most]);
}

/** Checks a file against the types and sizes that WhatsApp takes. */
export function checkUpload<T extends UploadedFile>(file: T, errors: FieldError[]): T {
  const { content, contentType, filename } = file;
  const type =
    typeof contentType === 'string' ? contentType.toLowerCase().split(';')[0]?.trim() : '';
  const most = MOST_BYTES.get(type ?? '');
  const refuse = refuseIn(errors);
  if (most === undefined)
    refuse('contentType', `is no type that WhatsApp takes: ${[...MOST_BYTES.keys()].join(', ')}`);
  if (!Buffer.isBuffer(content) || content.length === 0)
    refuse('content', 'must be a Buffer of at least one byte');
  else if (most !== undefined && content.length > most)
    refuse('content', `must have at most ${most} bytes for ${type}, and has ${content.length}`);
  if (filename !== undefined && !FILENAME.test(filename))
    refuse('filename', 'must be 1 to 240 characters without slashes');
  return file;
}

interface UploadedFile {
  readonly content: unknown;
  readonly contentType: unknown;
  readonly filename?: string;
}

export function checkMedia(
  given: Readonly<Record<string, unknown>>,
  errors: FieldError[],
): CheckedContent {
  const refuse = refuseIn(errors);
  const { type, caption } = given;
  if (!MEDIA_TYPES.some((one) => one === type))
    refuse('type', `must be one of ${MEDIA_TYPES.join(', ')}`);
  const content = {
    kind: 'media',
    type: type as MediaType,
    ...sourceOf(given, '', refuse),
    ...(typeof caption === 'string' && { caption }),
    ...filenameOf(given, '', refuse),
  } as const satisfies MediaContent;
  if (caption !== undefined) {
    if (!CAPTIONED.some((one) => one === type))
      refuse('caption', `is for ${CAPTIONED.join(', ')}; leave it out`);
    else if (!isText(caption, 1_024)) refuse('caption', 'must be a text of 1 to 1024 characters');
  }
  return { content };
}

/** The names of a template's params; errors at `paramNames`. */
export function readParamNames(
  given: unknown,
  params: readonly string[],
  errors: FieldError[],
): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const isList = Array.isArray(given) && given.length === params.length;
  if (isList && given.every((name) => typeof name === 'string' && /^\w{1,100}$/.test(name)))
    return given as string[];
  errors.push({ path: 'paramNames', message: 'must be the name of each of params' });
  return undefined;
}

/** The header of a template; errors at `header.…`. */
export function readHeader(given: unknown, errors: FieldError[]): TemplateHeader | undefined {
  if (given === undefined) return undefined;
  const refuse = refuseIn(errors);
  const type = HEADERS.find((one) => one === own(given, 'type'));
  if (type === undefined) {
    refuse('header.type', `must be one of ${HEADERS.join(', ')}`);
    return undefined;
  }
  if (type === 'text') {
    const text = own(given, 'text');
    const fault = paramFault(text);
    if (fault !== undefined) refuse('header.text', fault);
    else if (!isText(text, 60)) refuse('header.text', 'must be a text of 1 to 60 characters');
    return { type, text: typeof text === 'string' ? text : '' };
  }
  const source = sourceOf(given, 'header.', refuse);
  return type === 'document'
    ? { type, ...source, ...filenameOf(given, 'header.', refuse, type) }
    : { type, ...source };
}

/** The buttons of a template; errors at `buttons[…].…`. */
export function readButtons(
  given: unknown,
  errors: FieldError[],
): readonly TemplateButton[] | undefined {
  if (given === undefined) return undefined;
  const refuse = refuseIn(errors);
  if (!Array.isArray(given) || given.length > MOST_BUTTONS) {
    refuse('buttons', `must be an array of at most ${MOST_BUTTONS} buttons`);
    return undefined;
  }
  const places = new Set<unknown>();
  return given.flatMap((one: unknown, n): TemplateButton[] => {
    const path = `buttons[${n}]`;
    const index = own(one, 'index');
    if (!Number.isInteger(index) || Number(index) < 0 || Number(index) >= MOST_BUTTONS)
      refuse(`${path}.index`, 'must be the place of the button in the template, 0 to 9');
    else if (places.has(index)) refuse(`${path}.index`, 'is the place of another button, too');
    places.add(index);
    const button = buttonOf(one, Number(index), path, refuse);
    return button ? [button] : [];
  });
}

function buttonOf(
  given: unknown,
  index: number,
  path: string,
  refuse: Refuse,
): TemplateButton | undefined {
  const valueOf = (field: string, form: RegExp, rule: string): string => {
    const value = own(given, field);
    if (typeof value !== 'string' || !form.test(value)) refuse(`${path}.${field}`, rule);
    return typeof value === 'string' ? value : '';
  };
  const type = own(given, 'type');
  switch (type) {
    case 'url':
      return {
        type,
        index,
        suffix: valueOf(
          'suffix',
          /^[^\s\p{Cc}\p{Cs}]{1,2000}$/u,
          'must be 1 to 2000 characters without white space',
        ),
      };
    case 'quick_reply':
      return {
        type,
        index,
        payload: valueOf('payload', /^[^\p{Cc}\p{Cs}]{1,256}$/u, 'must be 1 to 256 characters'),
      };
    case 'copy_code':
      return {
        type,
        index,
        code: valueOf('code', /^[\x21-\x7e]{1,20}$/, 'must be 1 to 20 visible ASCII characters'),
      };
    default:
      refuse(`${path}.type`, 'must be url, quick_reply or copy_code');
      return undefined;
  }
}

/** The platform fetches a link itself; this app never does. */
function sourceOf(given: unknown, path: string, refuse: Refuse): MediaSource {
  const [link, mediaId] = [own(given, 'link'), own(given, 'mediaId')];
  if ((link === undefined) === (mediaId === undefined))
    refuse(`${path}link`, 'must be given, or mediaId, and not both');
  if (link !== undefined && !isLink(link))
    refuse(`${path}link`, 'must be an address such as https://cdn.example.com/a.png');
  if (mediaId !== undefined && !(typeof mediaId === 'string' && MEDIA_ID.test(mediaId)))
    refuse(`${path}mediaId`, 'must be the id of an upload, as uploadMedia() gives it');
  return typeof link === 'string'
    ? { link }
    : { mediaId: typeof mediaId === 'string' ? mediaId : '' };
}

function filenameOf(
  given: unknown,
  path: string,
  refuse: Refuse,
  type = own(given, 'type'),
): { readonly filename?: string } {
  const filename = own(given, 'filename');
  if (filename === undefined) return {};
  if (type !== 'document') refuse(`${path}filename`, 'is for a document; leave it out');
  else if (typeof filename !== 'string' || !FILENAME.test(filename))
    refuse(`${path}filename`, 'must be 1 to 240 characters without slashes');
  return typeof filename === 'string' ? { filename } : {};
}

function isLink(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LONGEST_LINK || /[\s\p{Cc}\p{Cs}]/u.test(value))
    return false;
  const url = parsedUrl(value);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isHttp && url.username === '' && url.password === '';
}

function isText(value: unknown, most: number): boolean {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= most &&
    !/[\0\p{Cs}]/u.test(value)
  );
}

function refuseIn(errors: FieldError[]): Refuse {
  return (path, message) => void errors.push({ path, message });
}
