export { twilioVoiceParser } from './twilio-calls.js';
export { twilioVoice, type TwilioVoiceOptions } from './twilio-voice.transport.js';
export { twilioParser, twilioSignature } from './twilio.js';
export { twilio, type TwilioOptions } from './twilio.transport.js';
