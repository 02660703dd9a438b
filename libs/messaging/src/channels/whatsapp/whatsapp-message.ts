import type { MessageCategory } from '../../message/category.js';
import type { Template, TemplateDefinition, TemplateParams } from '../../message/templates.js';

interface WhatsAppAddress {
  /**
   * Sender number, digits with country code. @default the `whatsapp.from` option, else the
   * provider's choice
   */
  readonly from?: string;
  /**
   * Phone number, digits with country code. The library removes a leading plus, spaces, dashes and
   * brackets.
   */
  readonly to: string;
  /** Earliest time of sending; a past time means at once. */
  readonly sendAt?: Date;
}

/** Free-form text, only inside an open 24-hour window (interface section 2.3). */
export interface WhatsAppText extends WhatsAppAddress {
  readonly text: string;
}

/** A template given by its name. */
export interface WhatsAppTemplate extends WhatsAppAddress {
  /**
   * Template name. The parameters are checked where the `whatsapp.templates` option has the
   * template.
   */
  readonly template: string;
  /** Language code. */
  readonly language: string;
  /** Values by position; values by name where the template is known. */
  readonly params?: readonly string[] | Readonly<Record<string, string>>;
  /** Category of a template that the `whatsapp.templates` option does not have. */
  readonly category?: MessageCategory;
}

/** A template of `defineTemplates()`: the compiler checks its parameters. */
export type WhatsAppKnownTemplate<P extends TemplateDefinition['params']> = WhatsAppAddress & {
  readonly template: Template<P>;
  /** @default the template's language */
  readonly language?: string;
} & (P extends readonly [] | 0
    ? { readonly params?: TemplateParams<P> }
    : { readonly params: TemplateParams<P> });
