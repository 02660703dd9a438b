import { describe, expect, it } from '@jest/globals';
import { awsCredentials, awsRegion, type AwsRequest, awsSignature } from './aws-signature.js';

const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const SCOPE = { region: 'us-east-1', service: 'service', at: Date.UTC(2015, 7, 30, 12, 36) };
const HOST = 'https://example.amazonaws.com';
const UNRESERVED = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = 'application/x-www-form-urlencoded';
const TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

type Vector = readonly [
  name: string,
  signed: string,
  signature: string,
  request: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
];

/** Of AWS's test suite for Signature Version 4, under their names there. */
const VECTORS: readonly Vector[] = [
  [
    'get-vanilla',
    'host;x-amz-date',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    'GET /',
  ],
  [
    'get-vanilla-query-order-key-case',
    'host;x-amz-date',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    'GET /?Param2=value2&Param1=value1',
  ],
  [
    'get-vanilla-query-order-value',
    'host;x-amz-date',
    '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694',
    'GET /?Param1=value2&Param1=value1',
  ],
  [
    'get-vanilla-query-unreserved',
    'host;x-amz-date',
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
    `GET /?${UNRESERVED}=${UNRESERVED}`,
  ],
  [
    'get-vanilla-utf8-query',
    'host;x-amz-date',
    '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
    'GET /?ሴ=bar',
  ],
  [
    'get-unreserved',
    'host;x-amz-date',
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    `GET /${UNRESERVED}`,
  ],
  [
    'get-header-value-trim',
    'host;my-header1;my-header2;x-amz-date',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
    'GET /',
    { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
  ],
  [
    'post-vanilla',
    'host;x-amz-date',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    'POST /',
  ],
  [
    'post-vanilla-query',
    'host;x-amz-date',
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
    'POST /?Param1=value1',
  ],
  [
    'post-header-value-case',
    'host;my-header1;x-amz-date',
    'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
    'POST /',
    { 'my-header1': 'VALUE1' },
  ],
  [
    'post-x-www-form-urlencoded',
    'content-type;host;x-amz-date',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    'POST /',
    { 'content-type': FORM },
    'Param1=value1',
  ],
  [
    'post-x-www-form-urlencoded-parameters',
    'content-type;host;x-amz-date',
    '1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe',
    'POST /',
    { 'content-type': `${FORM}; charset=utf8` },
    'Param1=value1',
  ],
];

const requestOf = (line: string, headers = {}, body = ''): AwsRequest => {
  const [method = '', path = ''] = line.split(' ');
  return { method, url: new URL(HOST + path), headers, body };
};

describe('awsSignature', () => {
  it.each(VECTORS)('signs %s as AWS says', (...[, signed, signature, line, headers, body]) => {
    expect(awsSignature(requestOf(line, headers, body), KEYS, SCOPE)).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
        `SignedHeaders=${signed}, Signature=${signature}`,
    });
  });

  it('signs post-sts-header-before, with a session token, as AWS says', () => {
    const keys = { ...KEYS, sessionToken: TOKEN };
    const headers = awsSignature(requestOf('POST /'), keys, SCOPE);
    expect(headers['x-amz-security-token']).toBe(TOKEN);
    expect(headers['authorization']).toMatch(
      /SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead$/,
    );
  });

  it('the body is signed as text or as bytes', () => {
    const text = awsSignature(requestOf('POST /', {}, 'Hé'), KEYS, SCOPE);
    const bytes = { ...requestOf('POST /'), body: Buffer.from('Hé') };
    expect(awsSignature(bytes, KEYS, SCOPE)).toEqual(text);
    expect(awsSignature(requestOf('POST /', {}, 'He'), KEYS, SCOPE)).not.toEqual(text);
  });
});

describe('the options of an account of AWS', () => {
  const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: KEYS.secretAccessKey };

  it('credentials are keys, or a function that gives them', async () => {
    const temporary = { ...keys, sessionToken: 't' };
    const ofSdk = { ...temporary, expiration: new Date(0), accountId: '123456789012' };
    for (const given of [() => ofSdk, () => Promise.resolve(ofSdk)])
      expect(await awsCredentials('credentials', given)()).toEqual(temporary);
    expect(await awsCredentials('credentials', keys)()).toEqual(keys);
  });

  it.each([
    ['accessKeyId', { ...keys, accessKeyId: 'hunter2' }],
    ['secretAccessKey', { ...keys, secretAccessKey: 'hunter2' }],
    ['sessionToken', { ...keys, sessionToken: 'hunter2 hunter2' }],
  ])('a wrong %s is named without its value', (name, given) => {
    const read = () => awsCredentials('credentials', given);
    expect(read).toThrow(new RegExp(`^credentials\\.${name}: `));
    expect(read).not.toThrow(/hunter2/);
  });

  it.each(['eu-west-1', 'us-gov-west-1', 'ap-southeast-2'])('%s is a region', (region) => {
    expect(awsRegion('region', region)).toBe(region);
  });

  it.each(['Ireland', 'eu-west-1.example.com', 'eu-west'])('%s is none', (region) => {
    expect(() => awsRegion('region', region)).toThrow(/^region: /);
  });
});
