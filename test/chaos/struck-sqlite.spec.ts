import { struck } from './struck.js';

struck('sqlite', 2);
