import type { MessageCategory } from '../../message/category.js';
import type { Template, TemplateDefinition, TemplateParams } from '../../message/templates.js';

interface WhatsAppAddress {
  /** Number it is sent from, digits with country code. @default the `whatsapp.from` option, else the service chooses */
  readonly from?: string;
  /** Phone number, digits with country code. A leading plus, spaces, dashes and brackets are normalised away. */
  readonly to: string;
  /** Not before this time; a past time means at once, in its turn. */
  readonly sendAt?: Date;
}

/** Free-form text, only inside an open 24-hour window (interface section 2.3). */
export interface WhatsAppText extends WhatsAppAddress {
  readonly text: string;
}

/** A template by its name alone. */
export interface WhatsAppTemplate extends WhatsAppAddress {
  /** Where it is one of the `whatsapp.templates` option, its parameters are checked. */
  readonly template: string;
  /** Language code. */
  readonly language: string;
  /** By place; by name where the template is known. */
  readonly params?: readonly string[] | Readonly<Record<string, string>>;
  /** Where the template is not known, but its category is. */
  readonly category?: MessageCategory;
}

/** One of the app's own templates, of `defineTemplates()`: the compiler knows its parameters. */
export type WhatsAppKnownTemplate<P extends TemplateDefinition['params']> = WhatsAppAddress & {
  readonly template: Template<P>;
  /** @default the template's */
  readonly language?: string;
} & (P extends readonly [] | 0
    ? { readonly params?: TemplateParams<P> }
    : { readonly params: TemplateParams<P> });
