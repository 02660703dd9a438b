import { AFRICAS_TALKING } from './africas-talking.js';
import { AWS_SMS } from './aws-sms.js';
import { BIRD } from './bird.js';
import type { CarrierType } from './carrier-type.js';
import { CLICKATELL } from './clickatell.js';
import { HTTP } from './http.js';
import { INFOBIP } from './infobip.js';
import { KANNEL } from './kannel.js';
import { PLIVO } from './plivo.js';
import { POSTMARK } from './postmark.js';
import { RELOADLY } from './reloadly.js';
import { RESEND } from './resend.js';
import { SENDGRID } from './sendgrid.js';
import { SES } from './ses.js';
import { SIMULATOR, VOICE_SIMULATOR } from './simulator.js';
import { SINCH } from './sinch.js';
import { SMPP } from './smpp.js';
import { SMTP } from './smtp.js';
import { TELNYX } from './telnyx.js';
import { TERMII } from './termii.js';
import { TWILIO, TWILIO_VOICE } from './twilio.js';
import { VONAGE } from './vonage.js';
import { WHATSAPP_CLOUD } from './whatsapp-cloud.js';

/** Every `type` of a carrier. A new one is a provider of the library with its settings, and an entry. */
export const CARRIER_TYPES = {
  simulator: SIMULATOR,
  http: HTTP,
  kannel: KANNEL,
  smpp: SMPP,
  twilio: TWILIO,
  vonage: VONAGE,
  infobip: INFOBIP,
  'africas-talking': AFRICAS_TALKING,
  termii: TERMII,
  plivo: PLIVO,
  clickatell: CLICKATELL,
  telnyx: TELNYX,
  sinch: SINCH,
  bird: BIRD,
  'aws-sms': AWS_SMS,
  'whatsapp-cloud': WHATSAPP_CLOUD,
  smtp: SMTP,
  resend: RESEND,
  postmark: POSTMARK,
  sendgrid: SENDGRID,
  ses: SES,
  'twilio-voice': TWILIO_VOICE,
  'voice-simulator': VOICE_SIMULATOR,
  reloadly: RELOADLY,
} as const satisfies Readonly<Record<string, CarrierType>>;

export type CarrierTypeName = keyof typeof CARRIER_TYPES;
