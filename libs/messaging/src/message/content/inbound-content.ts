/** A file of an inbound message; `InboundService.media()` fetches it. */
export interface InboundFile {
  /** `voice`: recorded in the chat. */
  readonly type: 'image' | 'video' | 'audio' | 'voice' | 'document' | 'sticker';
  /** MIME type, such as `image/jpeg`; `null` where the provider omits it, as for all below. */
  readonly contentType: string | null;
  readonly filename: string | null;
  /** Bytes. */
  readonly size: number | null;
  /** The provider's id or address of the file. Most addresses need the provider's token, and expire. */
  readonly source: string;
}

/** A person in an inbound message. */
export interface InboundCard {
  readonly name: string | null;
  readonly organization: string | null;
  /** As written by the sender. */
  readonly phones: readonly string[];
  readonly emails: readonly string[];
}

/**
 * What an inbound message is. Texts of the sender are at most 1,024 characters, a list has at most 50
 * entries, and the JSON of the content 16,384 characters: what is longer is left out.
 */
export type InboundContent =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'media';
      readonly caption: string | null;
      /** At least one, at most 10. */
      readonly files: readonly InboundFile[];
    }
  | {
      readonly kind: 'location';
      readonly latitude: number;
      readonly longitude: number;
      readonly name: string | null;
      readonly address: string | null;
      readonly url: string | null;
    }
  | { readonly kind: 'contacts'; readonly contacts: readonly InboundCard[] }
  | {
      readonly kind: 'reaction';
      readonly emoji: string;
      /** The provider's id of the message that it is about. */
      readonly messageId: string | null;
    }
  /** A pressed button of a template or of an interactive message; `payload` is yours. */
  | { readonly kind: 'button'; readonly title: string | null; readonly payload: string | null }
  /** A chosen row of a list. */
  | {
      readonly kind: 'list';
      readonly id: string | null;
      readonly title: string | null;
      readonly description: string | null;
    }
  /** A filled form (WhatsApp Flow). */
  | {
      readonly kind: 'flow';
      readonly name: string | null;
      /** `null`: no JSON object, or too long; the `text` of the message has it then. */
      readonly response: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly kind: 'other';
      /** The provider's word, such as `order`. */
      readonly type: string | null;
      /** The message as the provider sent it; `null` where it is too long. */
      readonly raw: unknown;
    };

/** Most characters of the JSON of a content. */
const LONGEST = 16_384;

const KINDS: Readonly<Record<InboundContent['kind'], true>> = {
  text: true,
  media: true,
  location: true,
  contacts: true,
  reaction: true,
  button: true,
  list: true,
  flow: true,
  other: true,
};

/** The content of a message within the bounds of the store. @param given by the parser */
export function boundedContent(
  given: InboundContent | undefined,
  text: string | null,
): InboundContent {
  // A parser of an app may have no types.
  if (!given || !Object.hasOwn(KINDS, given.kind) || given.kind === 'text')
    return text === null ? { kind: 'other', type: null, raw: null } : { kind: 'text', text };
  for (let content: InboundContent | undefined = given; content; content = shortened(content)) {
    const json = jsonOf(content);
    if (json !== undefined && json.length <= LONGEST) return content;
  }
  return { kind: 'other', type: given.kind, raw: null };
}

/** The content with less in it; `undefined`: nothing can be left out. */
function shortened(content: InboundContent): InboundContent | undefined {
  switch (content.kind) {
    case 'media': {
      const files = halfOf(content.files);
      return files.length > 0 ? { ...content, files } : undefined;
    }
    case 'contacts': {
      const contacts = halfOf(content.contacts);
      return contacts.length > 0 ? { ...content, contacts } : undefined;
    }
    case 'flow':
      return content.response ? { ...content, response: null } : undefined;
    case 'other':
      return content.raw === null ? undefined : { ...content, raw: null };
    case 'text':
    case 'location':
    case 'reaction':
    case 'button':
    case 'list':
      return undefined;
  }
}

function halfOf<T>(all: readonly T[]): readonly T[] {
  return all.slice(0, Math.floor(all.length / 2));
}

/** @param json as it was stored; `null`: of a text */
export function storedContent(json: string | null, text: string | null): InboundContent {
  return json === null ? boundedContent(undefined, text) : (JSON.parse(json) as InboundContent);
}

/** `undefined` where a parser of the app gives what JSON does not hold. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
