'use strict';
const { messagingMatchers } = require('./matchers.cjs');

if (typeof expect === 'undefined')
  throw new Error(
    '@dundun/messaging/testing/jest finds no global expect: list it in setupFilesAfterEnv, not in setupFiles; with injectGlobals: false call expect.extend(messagingMatchers)',
  );
expect.extend(messagingMatchers);
