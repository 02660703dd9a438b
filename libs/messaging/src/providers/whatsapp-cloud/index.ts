export {
  whatsappCloudParser,
  whatsappCloudSignature,
  type WhatsAppCloudSignatureOptions,
} from './whatsapp-cloud.callbacks.js';
export {
  whatsappCloud,
  type WhatsAppCloudOptions,
  type WhatsAppCloudTransport,
} from './whatsapp-cloud.transport.js';
