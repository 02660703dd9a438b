import type { Template } from '../message/templates.js';

export interface WhatsAppOptions {
  /** Sender number of messages that name none. @default the service chooses */
  readonly from?: string;
  /** Templates of `defineTemplates()`. The parameters of a message that names one of them are checked. */
  readonly templates?: Readonly<Record<string, Template>>;
  /** Most characters of a text. @default 4096 */
  readonly maxText?: number;
}
