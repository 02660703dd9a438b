import { expect } from 'vitest';
import matchers from './matchers.cjs';

expect.extend(matchers.messagingMatchers);
