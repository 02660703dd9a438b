import { generateKeyPairSync } from 'node:crypto';
import type { CarrierTypeName } from '../../src/carriers/carrier-types.js';

/** A carrier with every key of its type, and the variables that mean the same. */
export interface Form {
  readonly settings: Readonly<Record<string, string>>;
  /** The choice, then a variable for each key. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Keys that these exclude. */
  readonly excluded?: readonly string[];
}

const SECRET = 'a-secret-of-a-carrier-1234';
const CALLBACK = 'https://sms.example.com';
const PEM = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;

export const HTTP = {
  url: 'https://other.example.com',
  token: `tok_${'x'.repeat(49)}`,
  key: `svk_${'x'.repeat(49)}`,
  callback_secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
};

const TWILIO = {
  account_sid: `AC${'a1'.repeat(16)}`,
  auth_token: 'f'.repeat(32),
  callback_url: CALLBACK,
  url: 'http://127.0.0.1:4010',
};

const AWS = {
  region: 'eu-west-1',
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI+K7MDENG+bPxRfiCYEXAMPLEKEY',
};

const EC_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ format: 'der', type: 'spki' })
  .toString('base64');

export const FORMS: Readonly<Record<CarrierTypeName, Form>> = {
  simulator: { settings: {}, variables: { CARRIER: 'simulator' } },
  http: {
    settings: HTTP,
    variables: {
      CARRIER: 'http',
      CARRIER_URL: HTTP.url,
      CARRIER_TOKEN: HTTP.token,
      CARRIER_KEY: HTTP.key,
      CARRIER_CALLBACK_SECRET: HTTP.callback_secret,
    },
  },
  kannel: {
    settings: {
      url: 'http://127.0.0.1:13013',
      username: 'tester',
      password: SECRET,
      callback_url: CALLBACK,
      callback_secret: `${SECRET}-of-callbacks`,
    },
    variables: {
      CARRIER: 'kannel',
      KANNEL_URL: 'http://127.0.0.1:13013',
      KANNEL_USERNAME: 'tester',
      KANNEL_PASSWORD: SECRET,
      KANNEL_CALLBACK_URL: CALLBACK,
      KANNEL_CALLBACK_SECRET: `${SECRET}-of-callbacks`,
    },
  },
  smpp: {
    settings: {
      url: 'smpp://tester:secret@smsc.example.com:2775',
      binds: 'tx:2,rx:1',
      max_binds: '6',
      window: '20',
      system_type: 'VMA',
      long: 'sar',
      id_format: 'hex',
      time_zone: 'Africa/Lagos',
    },
    variables: {
      CARRIER: 'smpp',
      SMPP_URL: 'smpp://tester:secret@smsc.example.com:2775',
      SMPP_BINDS: 'tx:2,rx:1',
      SMPP_MAX_BINDS: '6',
      SMPP_WINDOW: '20',
      SMPP_SYSTEM_TYPE: 'VMA',
      SMPP_LONG: 'sar',
      SMPP_ID_FORMAT: 'hex',
      SMPP_TIME_ZONE: 'Africa/Lagos',
    },
  },
  smtp: {
    settings: { url: 'smtp://relay.example.com:2525', tls: 'off' },
    variables: {
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: 'smtp://relay.example.com:2525',
      SMTP_TLS: 'off',
    },
  },
  twilio: {
    settings: {
      ...TWILIO,
      messaging_service_sid: `MG${'b2'.repeat(16)}`,
      content_sids: `order_update=HX${'c3'.repeat(16)}`,
    },
  },
  'twilio-voice': {
    settings: TWILIO,
    variables: {
      VOICE_CARRIER: 'twilio',
      TWILIO_ACCOUNT_SID: TWILIO.account_sid,
      TWILIO_AUTH_TOKEN: TWILIO.auth_token,
      TWILIO_CALLBACK_URL: TWILIO.callback_url,
      TWILIO_URL: TWILIO.url,
    },
  },
  'voice-simulator': { settings: {}, variables: { VOICE_CARRIER: 'simulator' } },
  vonage: {
    settings: {
      api_key: 'abcd1234',
      api_secret: SECRET,
      application_id: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      private_key: PEM,
      signature_secret: `${SECRET}-of-signatures`,
      callback_url: CALLBACK,
      reports_api: 'true',
      url: 'http://127.0.0.1:4010',
    },
  },
  infobip: {
    settings: {
      url: 'https://account.example.com',
      api_key: 'key-4711-of-the-account',
      callback_url: CALLBACK,
      callback_secret: SECRET,
    },
  },
  'africas-talking': {
    settings: {
      username: 'acme',
      api_key: 'key-4711-of-the-account',
      callback_secret: SECRET,
      url: 'http://127.0.0.1:4010',
    },
  },
  termii: {
    settings: {
      url: 'https://account.example.com',
      api_key: 'key-4711-of-the-account',
      secret_key: SECRET,
      route: 'dnd',
    },
  },
  plivo: {
    settings: {
      auth_id: 'MA'.padEnd(20, 'X'),
      auth_token: SECRET,
      callback_url: CALLBACK,
      url: 'http://127.0.0.1:4010',
    },
  },
  clickatell: {
    settings: {
      api_key: 'key-4711-of-the-account',
      callback_secret: SECRET,
      url: 'http://127.0.0.1:4010',
    },
  },
  telnyx: {
    settings: {
      api_key: 'key-4711-of-the-account',
      public_key: Buffer.alloc(32, 1).toString('base64'),
      messaging_profile_id: 'a1405560-c8d3-4b1a-877d-3f449ad95352',
      callback_url: CALLBACK,
      url: 'http://127.0.0.1:4010',
    },
  },
  sinch: {
    settings: {
      service_plan_id: 'jd63jf88477ll123',
      api_token: 'key-4711-of-the-account',
      callback_url: CALLBACK,
      callback_secret: SECRET,
      callback_proof: 'signature',
      url: 'http://127.0.0.1:4010',
    },
  },
  bird: {
    settings: {
      access_key: 'key-4711-of-the-account',
      workspace_id: 'a1405560-c8d3-4b1a-877d-3f449ad95352',
      channel_id: '614208aa-b153-4d5d-9989-2fddfc0ce4c3',
      number: '2348000000001',
      signing_key: SECRET,
      callback_url: CALLBACK,
      url: 'http://127.0.0.1:4010',
    },
  },
  'aws-sms': {
    settings: {
      ...AWS,
      topic_arn: 'arn:aws:sns:eu-west-1:123456789012:sms',
      configuration_set: 'sms',
      pool_id: 'pool-1',
      message_type: 'TRANSACTIONAL',
      url: 'http://127.0.0.1:4010',
    },
    excluded: ['callback_secret'],
  },
  resend: {
    settings: {
      api_key: 're_123456789012345678',
      webhook_secret: HTTP.callback_secret,
      url: 'http://127.0.0.1:4010',
    },
    variables: {
      EMAIL_CARRIER: 'resend',
      RESEND_API_KEY: 're_123456789012345678',
      RESEND_WEBHOOK_SECRET: HTTP.callback_secret,
      RESEND_URL: 'http://127.0.0.1:4010',
    },
  },
  postmark: {
    settings: {
      server_token: 'ed742d75-5a45-49b6-a0a1-5b9ec3dc9e5d',
      callback_secret: SECRET,
      message_stream: 'mail',
      marketing_stream: 'news',
      url: 'http://127.0.0.1:4010',
    },
    variables: {
      EMAIL_CARRIER: 'postmark',
      POSTMARK_SERVER_TOKEN: 'ed742d75-5a45-49b6-a0a1-5b9ec3dc9e5d',
      POSTMARK_CALLBACK_SECRET: SECRET,
      POSTMARK_MESSAGE_STREAM: 'mail',
      POSTMARK_MARKETING_STREAM: 'news',
      POSTMARK_URL: 'http://127.0.0.1:4010',
    },
  },
  sendgrid: {
    settings: {
      api_key: 'SG.1234567890123456789012.abc',
      public_key: EC_KEY,
      url: 'http://127.0.0.1:4010',
    },
    variables: {
      EMAIL_CARRIER: 'sendgrid',
      SENDGRID_API_KEY: 'SG.1234567890123456789012.abc',
      SENDGRID_PUBLIC_KEY: EC_KEY,
      SENDGRID_URL: 'http://127.0.0.1:4010',
    },
  },
  ses: {
    settings: {
      ...AWS,
      topic_arn: 'arn:aws:sns:eu-west-1:123456789012:mail',
      configuration_set: 'mail',
      url: 'http://127.0.0.1:4010',
    },
    variables: {
      EMAIL_CARRIER: 'ses',
      SES_REGION: AWS.region,
      SES_ACCESS_KEY_ID: AWS.access_key_id,
      SES_SECRET_ACCESS_KEY: AWS.secret_access_key,
      SES_TOPIC_ARN: 'arn:aws:sns:eu-west-1:123456789012:mail',
      SES_CONFIGURATION_SET: 'mail',
      SES_URL: 'http://127.0.0.1:4010',
    },
  },
  'whatsapp-cloud': {
    settings: {
      token: 'EAAG-token-of-a-system-user',
      app_secret: SECRET,
      verify_token: `${SECRET}-to-verify`,
      url: 'http://127.0.0.1:4010',
    },
    variables: {
      WHATSAPP_CARRIER: 'whatsapp-cloud',
      WHATSAPP_CLOUD_TOKEN: 'EAAG-token-of-a-system-user',
      WHATSAPP_CLOUD_APP_SECRET: SECRET,
      WHATSAPP_CLOUD_VERIFY_TOKEN: `${SECRET}-to-verify`,
      WHATSAPP_CLOUD_URL: 'http://127.0.0.1:4010',
    },
  },
  reloadly: {
    settings: {
      client_id: 'id-4711',
      client_secret: SECRET,
      countries: 'NG,GH',
      url: 'http://127.0.0.1:4010',
      auth_url: 'http://127.0.0.1:4011',
    },
    variables: {
      VAS_CARRIER: 'reloadly',
      RELOADLY_CLIENT_ID: 'id-4711',
      RELOADLY_CLIENT_SECRET: SECRET,
      RELOADLY_COUNTRIES: 'NG,GH',
      RELOADLY_URL: 'http://127.0.0.1:4010',
      RELOADLY_AUTH_URL: 'http://127.0.0.1:4011',
    },
  },
};
