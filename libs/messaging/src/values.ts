/** Checks and forms of values, for a server that takes them from its own callers. */
export { CONSENT_WORDS } from './contacts/consent-words.js';
export { isGroupId, maskAddress } from './message/address.js';
export { csvOf } from './message/csv.js';
export type { Mailbox } from './message/content/email-content.js';
export { partialAddress } from './message/partial-address.js';
export { parseMailbox } from './message/mailbox.js';
export { laneOf, messagePlaceOf, partsOfLane } from './message/ids.js';
export { isMessageCategory } from './message/message.js';
export { amountText } from './message/money.js';
export { countryOfNumber } from './message/phone-country.js';
export { addressIdentity } from './message/phone-identity.js';
export { isPhoneNumber, maskPhoneNumber, withoutTrunkPrefix } from './message/phone-number.js';
export { parsedUrl } from './message/url.js';
export { templateBodyFault } from './message/templates.js';
export { standardWebhooks } from './providers/http/interface-callbacks.js';
export { rateOf } from './ports/option-schema.js';
export { checkGuardRules } from './ports/guard-options.js';
export { checkRoutes } from './routing/router.js';
export {
  doubledCharacters,
  type SmsParts,
  smsPartEnds,
  smsParts,
  ucs2Characters,
} from './message/sms-parts.js';
