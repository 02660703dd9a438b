import { AFRICAS_TALKING } from './types/africas-talking.js';
import { AWS_SMS } from './types/aws-sms.js';
import { BIRD } from './types/bird.js';
import type { CarrierType } from './carrier-type.js';
import { CLICKATELL } from './types/clickatell.js';
import { HTTP } from './types/http.js';
import { INFOBIP } from './types/infobip.js';
import { KANNEL } from './types/kannel.js';
import { PLIVO } from './types/plivo.js';
import { POSTMARK } from './types/postmark.js';
import { RELOADLY } from './types/reloadly.js';
import { RESEND } from './types/resend.js';
import { SENDGRID } from './types/sendgrid.js';
import { SES } from './types/ses.js';
import { SIMULATOR, VOICE_SIMULATOR } from './types/simulator.js';
import { SINCH } from './types/sinch.js';
import { SMPP } from './types/smpp.js';
import { SMTP } from './types/smtp.js';
import { TELNYX } from './types/telnyx.js';
import { TERMII } from './types/termii.js';
import { TWILIO, TWILIO_VOICE } from './types/twilio.js';
import { VONAGE } from './types/vonage.js';
import { WHATSAPP_CLOUD } from './types/whatsapp-cloud.js';

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
