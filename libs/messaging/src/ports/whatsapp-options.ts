import type { Template } from '../message/templates.js';

export interface WhatsAppOptions {
  /** Number messages are sent from where they do not say. @default the service chooses */
  readonly from?: string;
  /** Templates the app knows, of `defineTemplates()`: those named by a text are checked as well. */
  readonly templates?: Readonly<Record<string, Template>>;
  /** Characters of a text. @default 4096 */
  readonly maxText?: number;
}
